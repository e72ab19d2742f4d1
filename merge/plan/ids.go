package plan

import "slices"

// keyed returns the tables that have a key.
func keyed(p *Plan) map[*Table]bool {
	keyed := map[*Table]bool{}
	for _, t := range p.Tables {
		keyed[t] = t.Key() != nil
	}
	return keyed
}

// followKeys gives new ids to the rows of tables that have a key now and had none before, as most tables do, and takes
// them from tables that have none any more.
func followKeys(p *Plan, before map[*Table]bool) {
	usual := usualNewIDs(p)
	for _, t := range p.Tables {
		switch {
		case t.Key() == nil:
			t.NewIDs = nil
		case !before[t]:
			t.NewIDs = t.having(usual)
		}
		t.addPrimaryKey(p)
	}
}

// usualNewIDs returns the sources whose rows get new ids in most of the tables with new ids.
func usualNewIDs(p *Plan) (usual []string) {
	best := 0
	for _, t := range p.Tables {
		if t.Skip || t.Key() == nil || len(t.NewIDs) == 0 {
			continue
		}
		n := 0
		for _, other := range p.Tables {
			if !other.Skip && other.Key() != nil && slices.Equal(other.NewIDs, other.having(t.NewIDs)) {
				n++
			}
		}
		if n > best {
			best, usual = n, t.NewIDs
		}
	}
	return usual
}

// having returns the sources that have the table.
func (t *Table) having(sources []string) (have []string) {
	for _, source := range sources {
		if t.In(source) {
			have = append(have, source)
		}
	}
	return have
}

// addPrimaryKey adds the primary key to the unique keys, where rows may clash in it: it has no id that is new in
// all sources.
func (t *Table) addPrimaryKey(p *Plan) {
	key := t.Key()
	isNew := key != nil && slices.Contains(t.PrimaryKey, key.Name) && len(t.NewIDs) == len(p.SourcesOf(t))
	has := slices.ContainsFunc(t.Unique, func(u *Unique) bool { return slices.Equal(u.Columns, t.PrimaryKey) })
	if len(t.PrimaryKey) > 0 && !isNew && !has {
		t.Unique = slices.Insert(t.Unique, 0, &Unique{Columns: slices.Clone(t.PrimaryKey), Rule: RuleFail})
	}
}

// usualIDs returns what most tables have.
func usualIDs(p *Plan) (usual IDs, leave int64, offsets map[string]int64) {
	kinds, left := map[IDs]int{}, map[int64]int{}
	offsets = map[string]int64{}
	for _, t := range p.Tables {
		if t.Skip {
			continue
		}
		if kinds[t.IDs]++; kinds[t.IDs] > kinds[usual] {
			usual = t.IDs
		}
		if !t.IDs.AreNumbers() {
			continue
		}
		if left[t.Leave]++; left[t.Leave] > left[leave] {
			leave = t.Leave
		}
		for source, offset := range t.Offsets {
			if _, ok := offsets[source]; !ok {
				offsets[source] = offset
			}
		}
	}
	if len(offsets) == 0 {
		offsets = nil
	}
	return usual, leave, offsets
}

// offsetsOf returns the offsets of the sources that have the table.
func (t *Table) offsetsOf(offsets map[string]int64) map[string]int64 {
	have := map[string]int64{}
	for source, offset := range offsets {
		if t.In(source) {
			have[source] = offset
		}
	}
	if len(have) == 0 {
		return nil
	}
	return have
}

// followReferences replaces references to tables whose primary key is itself a reference: the ids are of the rows that
// this leads to.
func followReferences(p *Plan) {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			for i, r := range c.Refers {
				if to := rowsOf(p, r.Table); to != r.Table && c.HoldsReferences() {
					followed := *r
					followed.Table = to
					c.Refers = append([]*Reference(nil), c.Refers...) // other columns may have the same
					c.Refers[i] = &followed
				}
			}
		}
	}
}

// rowsOf returns the table whose rows have the ids in the primary key of a table. It is the table itself where that is
// its own key, is not decided, or leads in a circle.
func rowsOf(p *Plan, table string) string {
	for at, steps := table, 0; steps <= len(p.Tables); steps++ {
		t := p.Table(at)
		if t == nil || t.Key() != nil || len(t.PrimaryKey) != 1 {
			return at
		}
		c := t.Column(t.PrimaryKey[0])
		if c == nil || c.Role != RoleReference || !c.Decided || len(c.Refers) != 1 {
			return at
		}
		at = c.Refers[0].Table
	}
	return table
}
