package gormsnow_test

import (
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"gorm.io/gorm"

	"github.com/shardsnow/snow"
)

type forgetful struct{ ID snow.ID }

func (f *forgetful) BeforeCreate(*gorm.DB) error { f.ID = 0; return nil }

// Models whose keys are left out by a statement or by their hooks.
type (
	selective struct {
		ID   snow.ID
		Bio  string
		Note string
	}
	omissive        struct{ ID snow.ID }
	omissiveProfile struct {
		UserID snow.ID `gorm:"primaryKey"`
		User   *User
	}
	keyedProfile struct {
		ID     snow.ID `gorm:"primaryKey;snowflake"`
		UserID snow.ID `gorm:"snowflake"`
		User   *User
	}
	readOnlyProfile struct {
		UserID snow.ID `gorm:"primaryKey;->"`
		User   *User
	}
)

func (*selective) BeforeCreate(tx *gorm.DB) error {
	tx.Statement.Selects = append(tx.Statement.Selects, "Bio")
	return nil
}

func (*omissive) BeforeCreate(tx *gorm.DB) error {
	tx.Statement.Omits = append(tx.Statement.Omits, "ID")
	return nil
}

func (*omissiveProfile) BeforeCreate(tx *gorm.DB) error {
	tx.Statement.Omits = append(tx.Statement.Omits, "UserID")
	return nil
}

func TestNoInsertWithoutID(t *testing.T) {
	t.Parallel()
	t.Run("after a hook that clears it", func(t *testing.T) {
		wantFieldError(t, dry(t, newSequence()).Create(&forgetful{}), "gormsnow_test.forgetful", "ID", "no id at the insert")
	})
	t.Run("where the callback has lost its place", func(t *testing.T) {
		db := dry(t, newSequence())
		if err := db.Callback().Create().Remove("gorm:before_create"); err != nil {
			t.Fatal(err)
		}
		wantFieldError(t, db.Create(&Order{}), "gormsnow_test.Order", "ID", "no id at the insert")
	})
	t.Run("in its place after a callback was replaced", func(t *testing.T) {
		db := dry(t, newSequence())
		if err := db.Callback().Create().Replace("gorm:before_create", func(*gorm.DB) {}); err != nil {
			t.Fatal(err)
		}
		order := Order{}
		if err := db.Create(&order).Error; err != nil || order.ID != 1001 {
			t.Errorf("Create: id %d, %v; want 1001", order.ID, err)
		}
	})
	for name, tt := range map[string]struct {
		create func(db *gorm.DB) *gorm.DB
		want   string // the INSERT, of row 7
		model  string // or else the model that is refused
		field  string
		reason string
	}{
		"other columns selected": {
			create: func(db *gorm.DB) *gorm.DB { return db.Select("Bio").Create(&Profile{UserID: 7, Bio: "b"}) },
			want:   "INSERT INTO `profiles` (`user_id`,`bio`) VALUES (?,?)",
		},
		"other columns and the association selected": {
			create: func(db *gorm.DB) *gorm.DB { return db.Select("Bio", "User").Create(&Profile{UserID: 7, Bio: "b"}) },
			want:   "INSERT INTO `profiles` (`user_id`,`bio`) VALUES (?,?)",
		},
		"other columns of a map selected": {
			create: func(db *gorm.DB) *gorm.DB {
				return db.Model(&Profile{}).Select("Bio").Create(map[string]any{"UserID": 7, "bio": "b"})
			},
			want: "INSERT INTO `profiles` (`user_id`,`bio`) VALUES (?,?)",
		},
		"other columns selected by a hook": {
			create: func(db *gorm.DB) *gorm.DB { return db.Create(&selective{ID: 7, Bio: "b"}) },
			want:   "INSERT INTO `selectives` (`id`,`bio`) VALUES (?,?)",
		},
		"the association not selected": {
			create: func(db *gorm.DB) *gorm.DB { return db.Select("Bio").Create(&Profile{User: &User{ID: 7}}) },
			model:  "gormsnow_test.Profile", field: "UserID", reason: "neither is set",
		},
		"the foreign key omitted": {
			create: func(db *gorm.DB) *gorm.DB { return db.Omit("UserID").Create(&Profile{UserID: 7}) },
			model:  "gormsnow_test.Profile", field: "UserID", reason: "Omit",
		},
		"the foreign key omitted from a map": {
			create: func(db *gorm.DB) *gorm.DB {
				return db.Model(&Profile{}).Omit("user_id").Create(map[string]any{"user_id": 7})
			},
			model: "gormsnow_test.Profile", field: "UserID", reason: "Omit",
		},
		"a foreign key beside a key omitted": {
			create: func(db *gorm.DB) *gorm.DB { return db.Omit("UserID").Create(&keyedProfile{UserID: 7}) },
			model:  "gormsnow_test.keyedProfile", field: "UserID", reason: "Omit",
		},
		"a read-only foreign key": {
			create: func(db *gorm.DB) *gorm.DB { return db.Create(&readOnlyProfile{UserID: 7}) },
			model:  "gormsnow_test.readOnlyProfile", field: "UserID", reason: "read-only",
		},
		"the key omitted by a hook": {
			create: func(db *gorm.DB) *gorm.DB { return db.Create(&omissive{ID: 7}) },
			model:  "gormsnow_test.omissive", field: "ID", reason: "Omit",
		},
		"the foreign key omitted by a hook": {
			create: func(db *gorm.DB) *gorm.DB { return db.Create(&omissiveProfile{UserID: 7}) },
			model:  "gormsnow_test.omissiveProfile", field: "UserID", reason: "Omit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := newSequence()
			db, expect := mock(t, src, &gorm.Config{SkipDefaultTransaction: true})
			if tt.want == "" {
				wantFieldError(t, tt.create(db), tt.model, tt.field, tt.reason)
			} else {
				expect.ExpectExec(tt.want).WithArgs(7, "b").WillReturnResult(sqlmock.NewResult(0, 1))
				if err := tt.create(db).Error; err != nil {
					t.Error(err)
				}
			}
			if len(src.fills) != 0 {
				t.Errorf("asked the source for %v", src.fills)
			}
		})
	}
}
