package protocol

// A step is what a machine does next.
type step int

const (
	readServer  step = iota // is the server fit, and what time is it
	findFree                // which numbers are free
	takeCensus              // why is none
	readPinned              // who has the pinned one
	takeWindow              // may I have it: LossWindow 0
	claimNumber             // the same: LossWindow > 0
	readAttempt             // did I get it
	confirmRow              // will the database remember that I have
	beginWindow             // may I have its first window
	abandon                 // nothing came of the claim
	renew                   // may I go on
	readHolding             // why not
	reassert                // the database forgot, remind it
	decline                 // give back a window that is of no use
	over                    // nothing more
)

// A transition is what a step asks and what follows.
type transition struct {
	ask     Ask
	holding bool // the request is about the number that is held, not the attempt at another one
	timed   bool // a write that has an effect from Request.Earliest to Request.Latest only
	prepare func(m *Machine, q *Request, now Reading)
	handle  func(m *Machine, q Request, r Reply, now Reading, out *Outcome)
	unknown step // what follows if nobody knows the outcome
}

// steps is the protocol.
var steps = [...]transition{
	readServer: {ask: AskServer, handle: (*Machine).search, unknown: readServer},
	findFree: {ask: AskFree, handle: (*Machine).choose, unknown: readServer, prepare: func(m *Machine, q *Request, _ Reading) {
		q.Start, q.End = m.attempt.start, m.params.Workers
		if m.pinned {
			q.Start, q.End = m.number, m.number+1
		}
	}},
	takeCensus: {ask: AskCensus, handle: (*Machine).reportCensus, unknown: readServer},
	readPinned: {ask: AskRow, handle: (*Machine).awaitPinned, unknown: readServer, prepare: func(m *Machine, q *Request, _ Reading) {
		q.Worker = m.number
	}},
	takeWindow: {ask: AskTake, timed: true, handle: (*Machine).taken, unknown: readAttempt, prepare: func(m *Machine, q *Request, now Reading) {
		lead := m.lead(now)
		q.Window += lead
		q.Latest -= lead * m.params.Layout.Tick().Microseconds() // the end of the window is as far away as ever
	}},
	claimNumber: {ask: AskClaim, timed: true, handle: (*Machine).claimed, unknown: readAttempt},
	readAttempt: {ask: AskRow, handle: (*Machine).resolve, unknown: readAttempt},
	confirmRow: {ask: AskConfirm, handle: (*Machine).rowConfirmed, unknown: readAttempt, prepare: func(m *Machine, q *Request, _ Reading) {
		q.State, q.Seen = m.attempt.state, m.attempt.Ceiling
	}},
	beginWindow: {ask: AskGrant, timed: true, handle: (*Machine).begun, unknown: readAttempt},
	abandon:     {ask: AskAbandon, handle: (*Machine).startOver, unknown: readServer},
	renew:       {ask: AskRenew, holding: true, handle: (*Machine).renewed, unknown: renew},
	readHolding: {ask: AskRow, holding: true, handle: (*Machine).inspect, unknown: renew},
	reassert:    {ask: AskReassert, holding: true, handle: (*Machine).reasserted, unknown: reassert},
	decline: {ask: AskRelease, handle: (*Machine).startOver, unknown: readServer, prepare: func(m *Machine, q *Request, _ Reading) {
		q.Next = m.attempt.Floor
	}},
	over: {handle: func(*Machine, Request, Reply, Reading, *Outcome) {}, unknown: over},
}

// stepNames has the names of the steps, for traces.
var stepNames = [...]string{
	readServer: "read the server", findFree: "find a free number", takeCensus: "take a census", readPinned: "read the pinned row",
	takeWindow: "take a window", claimNumber: "claim", readAttempt: "read the row of the attempt", confirmRow: "confirm the row",
	beginWindow: "begin the window", abandon: "abandon the claim", renew: "renew", readHolding: "read the row that is held",
	reassert: "reassert the ceiling", decline: "decline the window", over: "over",
}

func (s step) String() string { return stepNames[s] }
