package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/plan"
)

// shut begins the names of triggers that refuse writes.
const shut = "x"

// alter gives the columns of a group other types with ALTER TABLE, while the tables are locked.
//
// The foreign keys must go before, and come again after. If the session ends meanwhile, the locks end with it. So
// triggers refuse writes until the foreign keys are there again: nobody writes what no foreign key checks.
func (g *group) alter(ctx context.Context, run *job.Run, back bool) error {
	return g.work(ctx, run, func(s *session, w world) error {
		if done, err := g.isAltered(ctx, s, w, back); err != nil || done {
			return err
		}
		if back {
			if err := g.fitsBack(ctx, s, w); err != nil {
				return err
			}
		}
		locks := each(g.names(), ", ", func(name string) string {
			return quote(name) + " WRITE, " + quote(name) + " AS s" + quotedNumber(g, name) + " WRITE"
		})
		if err := run.Check(ctx); err != nil {
			return err
		}
		if err := patiently(ctx, func() error { return s.lock(ctx, "LOCK TABLES "+locks) }); err != nil {
			return err
		}
		err := g.alterLocked(ctx, s, back)
		if unlocked := s.exec(context.WithoutCancel(ctx), "UNLOCK TABLES"); err == nil {
			err = unlocked
		}
		return err
	})
}

func quotedNumber(g *group, name string) string { return fmt.Sprint(slices.Index(g.names(), name)) }

func (g *group) fitsBack(ctx context.Context, s *session, w world) error {
	c := &carrier{direction: backward(), world: w, s: s}
	for _, r := range w {
		if err := c.fits(ctx, r, c.source(r)); err != nil {
			return err
		}
	}
	return nil
}

// isAltered reports whether there is nothing to do.
func (g *group) isAltered(ctx context.Context, q querier, w world, back bool) (bool, error) {
	ours, err := triggers(ctx, q)
	if err != nil {
		return false, err
	}
	for _, r := range w {
		if len(typesToChange(r, back)) > 0 {
			return false, nil
		}
		missing, err := g.missingKeys(r)
		if err != nil || len(missing) > 0 {
			return false, err
		}
		for _, event := range events() {
			if ours[triggerName(shut, event, r.name)] {
				return false, nil
			}
		}
	}
	return true, nil
}

// typesToChange returns the columns that have not their type yet.
func typesToChange(r *relation, back bool) []*plan.Column {
	var columns []*plan.Column
	for _, c := range r.plan.Columns {
		f := r.field(c.Name)
		if isWide := f != nil && f.kind == "bigint"; isWide == back {
			columns = append(columns, c)
		}
	}
	return columns
}

// missingKeys returns the foreign keys of the plan that a table has not.
func (g *group) missingKeys(r *relation) ([]*plan.ForeignKey, error) {
	have, err := linksIn(r.name, r.text)
	if err != nil {
		return nil, err
	}
	var missing []*plan.ForeignKey
	for _, k := range r.plan.ForeignKeys {
		if !slices.ContainsFunc(have, func(l *link) bool { return l.name == k.Name }) {
			missing = append(missing, k)
		}
	}
	return missing, nil
}

func (g *group) alterLocked(ctx context.Context, s *session, back bool) error {
	w, err := g.look(ctx, s)
	if err != nil {
		return err
	}
	if back {
		if err := g.fitsBack(ctx, s, w); err != nil {
			return err
		}
	}
	for _, r := range w {
		for _, event := range events() {
			if err := s.exec(ctx, fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS %s BEFORE %s ON %s FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'snow convert was stopped while it changed this table: run it again'",
				quote(triggerName(shut, event, r.name)), strings.ToUpper(event), quote(r.name))); err != nil {
				return err
			}
		}
	}
	for _, phase := range []func(*relation) (string, error){
		func(r *relation) (string, error) { return dropKeys(r) },
		func(r *relation) (string, error) { return modify(r, back) },
		func(r *relation) (string, error) { return g.addKeys(r) },
	} {
		if w, err = g.look(ctx, s); err != nil {
			return err
		}
		for _, r := range w {
			statement, err := phase(r)
			if err != nil {
				return err
			}
			if statement == "" {
				continue
			}
			if err := s.exec(ctx, statement); err != nil {
				return err
			}
		}
	}
	for _, r := range w {
		for _, event := range events() {
			if err := s.exec(ctx, "DROP TRIGGER IF EXISTS "+quote(triggerName(shut, event, r.name))); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropKeys returns the statement that drops the foreign keys of the plan.
func dropKeys(r *relation) (string, error) {
	have, err := linksIn(r.name, r.text)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, k := range r.plan.ForeignKeys {
		if slices.ContainsFunc(have, func(l *link) bool { return l.name == k.Name }) {
			parts = append(parts, "DROP FOREIGN KEY "+quote(k.Name))
		}
	}
	return alterTable(r, parts), nil
}

// modify returns the statement that changes the types.
func modify(r *relation, back bool) (string, error) {
	change := typesToChange(r, back)
	var parts []string
	for line := range strings.Lines(r.text) {
		if !strings.HasPrefix(line, "  `") {
			continue
		}
		name := unquote(nameIn().FindString(line))
		i := slices.IndexFunc(change, func(c *plan.Column) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			continue
		}
		to := change[i].To
		if back {
			to = change[i].Type
		}
		typed, err := withType(strings.TrimSuffix(strings.TrimRight(line, "\n"), ","), to)
		if err != nil {
			return "", fmt.Errorf("mysql: column %q of %q: %w", name, r.name, err)
		}
		parts = append(parts, "MODIFY "+strings.TrimSpace(typed))
	}
	return alterTable(r, parts), nil
}

// addKeys returns the statement that adds the foreign keys again. The session checks none: nobody could write.
func (g *group) addKeys(r *relation) (string, error) {
	missing, err := g.missingKeys(r)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, k := range missing {
		parts = append(parts, "ADD "+foreignKey(k))
	}
	return alterTable(r, parts), nil
}

func alterTable(r *relation, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("ALTER TABLE %s %s", quote(r.name), strings.Join(parts, ", "))
}

func foreignKey(k *plan.ForeignKey) string {
	text := fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)", quote(k.Name), quoteAll(k.Columns), quote(k.Refers), quoteAll(k.RefColumns))
	if k.OnDelete != "" {
		text += " ON DELETE " + k.OnDelete
	}
	if k.OnUpdate != "" {
		text += " ON UPDATE " + k.OnUpdate
	}
	return text
}
