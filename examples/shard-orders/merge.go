package main

import "gorm.io/gorm"

// A merger is the result of copying the rows of B into A.
type merger struct {
	before, after int   // orders in A
	refused       error // A's error, if it refused them
}

// mergeBIntoA copies orders and their lines in one transaction: all or nothing.
func mergeBIntoA[O, L any](s *story) (m merger, err error) {
	a, b := s.dbs[0], s.dbs[1]
	if m.before, err = a.count(new(O)); err != nil {
		return m, err
	}
	m.refused = a.Transaction(func(tx *gorm.DB) error {
		if err := copyRows[O](b.DB, tx); err != nil {
			return err
		}
		return copyRows[L](b.DB, tx)
	})
	if m.after, err = a.count(new(O)); err != nil {
		return m, err
	}
	s.row("orders in A before", "%s", count(m.before))
	if m.refused != nil {
		s.row("A refuses", "%v", m.refused)
	}
	s.row("orders in A after", "%s", count(m.after))
	return m, nil
}

// copyRows copies a table in batches.
func copyRows[T any](from, to *gorm.DB) error {
	var rows []T
	return from.FindInBatches(&rows, batch, func(*gorm.DB, int) error {
		return to.Create(&rows).Error
	}).Error
}
