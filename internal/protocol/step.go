package protocol

// A step is the next request of a machine, and the reason for it.
type step int

const (
	readServer  step = iota // is the server fit, and what is its time?
	findFree                // which numbers are free?
	takeCensus              // none is free: when will one be?
	readPinned              // who has the pinned number?
	takeWindow              // take a number with its first window (LossWindow 0)
	claimNumber             // claim a number (LossWindow > 0)
	readAttempt             // the outcome is unknown: does this lease have the number?
	confirmRow              // it does: will the database remember that?
	beginWindow             // get the first window of the claim
	abandon                 // give up the claim
	renew                   // raise the ceiling
	readHolding             // the renewal had no effect: why?
	reassert                // the database forgot the ceiling: set it again
	decline                 // give back a window that the generator can't use
	over                    // there is nothing more to do
)

// stepNames has the names of the steps, for traces.
var stepNames = [...]string{
	readServer: "read the server", findFree: "find a free number", takeCensus: "take a census", readPinned: "read the pinned row",
	takeWindow: "take a window", claimNumber: "claim", readAttempt: "read the row of the attempt", confirmRow: "confirm the row",
	beginWindow: "begin the window", abandon: "abandon the claim", renew: "renew", readHolding: "read the row that is held",
	reassert: "reassert the ceiling", decline: "decline the window", over: "over",
}

func (s step) String() string { return stepNames[s] }
