package ids

// A Kind is the kind of a row in the tables.
type Kind string

// The kinds of rows.
const (
	Snow  Kind = "snow"
	Peer  Kind = "peer"
	Floor Kind = "floor" // not a generator, but an operation that every generator needs
)

// A Generator is one entry of the comparison.
type Generator struct {
	Name      string // unique
	Kind      Kind
	Module    string  // its path, for its version
	Format    string  // the bits of an id
	Bits      int     // how many
	Mutex     bool    // calls exclude each other with a mutex
	PerCall   int     // ids that a call makes; 0 is 1
	PerSecond float64 // ids that the format allows; 0 if it does not limit the rate in these measurements
	Setting   *Setting

	// New makes the generator, as its README says.
	New func() (Start, error)

	// Number makes one id and returns it as a number. It is nil if the Run does
	// so without being slower.
	Number func() (uint64, error)
}

// A Start returns the Run of one goroutine, which no other goroutine calls. The
// goroutines share the generator.
type Start func() Run

// A Run makes n calls to a generator one after the other and returns the last
// id as a number: of an id with more than 64 bits, the lowest 64.
//
// The loop is in the Run, so that it calls the generator as its users do, and not
// indirectly.
type Run func(n int) (uint64, error)

// shared returns the Start of a Run that keeps nothing between calls.
func shared(run Run) Start { return func() Run { return run } }

// A Setting is an option of a package that is valid for the whole process. It is
// on only while a generator that needs it is measured.
type Setting struct{ On, Off func() }

// use turns s on and returns a function that turns it off.
func (s *Setting) use() (off func()) {
	if s == nil {
		return func() {}
	}
	s.On()
	return s.Off
}

// number makes one id with run and returns it as a number.
func (g *Generator) number(run Run) (uint64, error) {
	if g.Number != nil {
		return g.Number()
	}
	return run(1)
}
