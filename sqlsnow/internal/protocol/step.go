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

// stepNames has the names of the steps, for traces.
var stepNames = [...]string{
	readServer: "read the server", findFree: "find a free number", takeCensus: "take a census", readPinned: "read the pinned row",
	takeWindow: "take a window", claimNumber: "claim", readAttempt: "read the row of the attempt", confirmRow: "confirm the row",
	beginWindow: "begin the window", abandon: "abandon the claim", renew: "renew", readHolding: "read the row that is held",
	reassert: "reassert the ceiling", decline: "decline the window", over: "over",
}

func (s step) String() string { return stepNames[s] }
