package ids

import (
	"context"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Moduli are the numbers of tables or shards that evenness is measured for.
var Moduli = [...]int{2, 3, 4, 7, 8, 16, 64, 100}

// Significance is the probability that truly random ids fail the test of evenness
// for a modulus.
const Significance = 0.01

// Evenness says how ids at low rates spread over the residues of a
// modulus.
type Evenness struct {
	Modulus   int     `json:"modulus"`
	Counts    []int   `json:"counts"` // ids in each residue
	ChiSquare float64 `json:"chi_square"`
	P         float64 `json:"p"` // probability of such a ChiSquare or a larger one, if residues were random
}

// Passes reports whether the residues can be called even.
func (e Evenness) Passes() bool { return e.P >= Significance }

// Largest returns the share of the fullest residue.
func (e Evenness) Largest() float64 {
	total := 0
	for _, n := range e.Counts {
		total += n
	}
	return float64(slices.Max(e.Counts)) / float64(total)
}

func evennessOf(ids []uint64, modulus int) Evenness {
	e := Evenness{Modulus: modulus, Counts: make([]int, modulus)}
	for _, id := range ids {
		e.Counts[id%uint64(modulus)]++
	}
	expected := float64(len(ids)) / float64(modulus)
	for _, n := range e.Counts {
		d := float64(n) - expected
		e.ChiSquare += d * d / expected
	}
	e.P = distuv.ChiSquared{K: float64(modulus - 1)}.Survival(e.ChiSquare)
	return e
}

// measureEvenness makes one id of each generator every two milliseconds. It skips
// generators that need a Setting, because settings do not change how ids spread.
func (b *bench) measureEvenness(ctx context.Context) error {
	group := b.groups(func(s *subject) bool { return s.Kind != Floor && s.PerCall == 1 })[nil]
	runs, err := fresh(group)
	if err != nil {
		return err
	}
	b.Progress("evenness, one id per 2 ms")
	ids := make([][]uint64, len(group))
	for i := range ids {
		ids[i] = make([]uint64, b.EvennessIDs)
	}
	runtime.GC()
	err = ticks(ctx, 2*time.Millisecond, b.EvennessIDs, func(tick int) error {
		for i, s := range group {
			var err error
			if ids[i][tick], err = s.number(runs[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, s := range group {
		for _, m := range Moduli {
			s.row.Evenness = append(s.row.Evenness, evennessOf(ids[i], m))
		}
	}
	return nil
}
