package protocol

// The comparison of the simulation with the SQL needs these names. It imports packages that import this one.
type (
	SimRegistry = simRegistry
	SimRow      = simRow
)

const SimStart = simStart

var (
	SimSeed        = simSeed
	SimLayout      = simLayout
	NewSimRegistry = newSimRegistry
)
