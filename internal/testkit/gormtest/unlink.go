package gormtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/gormsnow"
)

// associationDelete removes a parent and a child, which a later Save must not
// restore.
func (s *suite) associationDelete(t *testing.T) {
	name := func(n string) string { return "unlinked " + n }
	reload := func(t *testing.T, branch *Branch) (stored Branch) {
		t.Helper()
		save := s.db.Save(branch)
		if err := errors.Join(save.Error, s.db.First(&stored, branch.ID).Error); err != nil {
			t.Fatal(err)
		}
		return stored
	}
	create := func(t *testing.T, n string) (parent *Branch, leaf Branch) {
		t.Helper()
		parent = &Branch{Name: name(n)}
		leaf = Branch{Name: name(n + " leaf"), Parent: parent}
		if err := s.db.Create(&leaf).Error; err != nil || leaf.ParentID == nil {
			t.Fatalf("parent %v, %v", leaf.ParentID, err)
		}
		return parent, leaf
	}
	for n, unlink := range map[string]func(a *gorm.Association, parent, other *Branch) error{
		"delete":           func(a *gorm.Association, parent, _ *Branch) error { return a.Delete(parent) },
		"delete unscoped":  func(a *gorm.Association, parent, _ *Branch) error { return a.Unscoped().Delete(parent) },
		"clear":            func(a *gorm.Association, _, _ *Branch) error { return a.Clear() },
		"clear unscoped":   func(a *gorm.Association, _, _ *Branch) error { return a.Unscoped().Clear() },
		"replace":          func(a *gorm.Association, _, other *Branch) error { return a.Replace(other) },
		"replace unscoped": func(a *gorm.Association, _, other *Branch) error { return a.Unscoped().Replace(other) },
		"append unscoped":  func(a *gorm.Association, _, other *Branch) error { return a.Unscoped().Append(other) },
	} {
		t.Run(n, func(t *testing.T) {
			parent, leaf := create(t, n)
			old, other := parent.ID, Branch{Name: name(n + " other")}
			if err := unlink(gormsnow.Association(s.db.Model(&leaf), "Parent"), parent, &other); err != nil {
				t.Fatal(err)
			}
			var want *snow.ID
			if other.ID != 0 {
				want = ptr(s.branch(t, other.Name))
			}
			kept := 1
			if strings.HasSuffix(n, "unscoped") {
				kept = 0
			}
			if stored := count(t, s.db, "branches", "id", old); stored != kept {
				t.Errorf("%d rows of the old parent, want %d", stored, kept)
			}
			if strings.HasPrefix(n, "clear") {
				leaf.Parent = nil // GORM leaves an empty one, which Save would create
			}
			if stored := reload(t, &leaf); fmt.Sprint(deref(leaf.ParentID), deref(stored.ParentID)) != fmt.Sprint(deref(want), deref(want)) {
				t.Errorf("parent %d, stored %d, want %d", deref(leaf.ParentID), deref(stored.ParentID), deref(want))
			}
		})
	}
	t.Run("of many rows", func(t *testing.T) {
		parent, leaf := create(t, "many")
		other, second := create(t, "many others")
		leaves := []*Branch{&leaf, &second}
		if err := gormsnow.Association(s.db.Model(leaves), "Parent").Delete(parent); err != nil {
			t.Fatal(err)
		}
		if leaf.ParentID != nil || reload(t, &leaf).ParentID != nil || deref(second.ParentID) != other.ID || deref(reload(t, &second).ParentID) != other.ID {
			t.Errorf("parents %d and %d, want none and %d", deref(leaf.ParentID), deref(second.ParentID), other.ID)
		}
	})
	t.Run("has many", func(t *testing.T) {
		root := Branch{Name: name("root"), Twigs: []Branch{{Name: name("twig 1")}, {Name: name("twig 2")}}}
		if err := s.db.Create(&root).Error; err != nil {
			t.Fatal(err)
		}
		if err := gormsnow.Association(s.db.Model(&root), "Twigs").Delete(&root.Twigs[0]); err != nil || len(root.Twigs) != 1 {
			t.Fatalf("%d twigs, %v; want 1", len(root.Twigs), err)
		}
		if n := count(t, s.db, "branches", "parent_id", root.ID); n != 1 {
			t.Errorf("%d stored twigs, want 1", n)
		}
	})
	t.Run("many to many", func(t *testing.T) {
		root := Branch{Name: name("friends"), Friends: []Branch{{Name: name("friend")}}}
		if err := s.db.Create(&root).Error; err != nil {
			t.Fatal(err)
		}
		if err := gormsnow.Association(s.db.Model(&root), "Friends").Delete(&root.Friends[0]); err != nil || len(root.Friends) != 0 {
			t.Fatalf("%d friends, %v; want none", len(root.Friends), err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		if err := gormsnow.Association(s.db.Model(&Branch{}), "Nobody").Delete(&Branch{}); !errors.Is(err, gorm.ErrUnsupportedRelation) {
			t.Errorf("error %v, want %v", err, gorm.ErrUnsupportedRelation)
		}
	})
}

// deref returns the id that p points to, or zero.
func deref(p *snow.ID) snow.ID {
	if p == nil {
		return 0
	}
	return *p
}
