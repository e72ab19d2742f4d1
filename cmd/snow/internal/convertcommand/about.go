package convertcommand

const aboutPlan = `Read the schema and samples of the rows, and write a plan of the conversion: which columns
become BIGINT and how, the statements, what blocks writers and for how long, and what
programs must change. Nothing else is written. An existing file is never overwritten.

Columns that look like references and that no foreign key declares are questions in the
file: answer each with widen or leave. Exit status 3: there are questions.`

const aboutRun = `Carry out the plan, one step after another, up to the next gate. Each step is verified
before the next one begins. After an interruption of any kind the same command continues.

It asks before a step that blocks writers; --yes answers. It waits while replicas lag, or
while the server is busy. At a gate it says what programs must do, and ends with status 3.
When they do it:

  snow convert run --dsn env:SHOP --plan shop.yaml --ready count`

const aboutStatus = `Show how far the conversion is: the phase, each step, rows, and until when it can be taken
back. It only reads, and may run beside a run.`

const aboutVerify = `Compare the database with what it should be in this phase: counts, checksums, references,
types of columns, counters, highest ids. It only reads, and may run between steps or at the end.

Exit status: 1 if something is wrong.`

const aboutBack = `Take the conversion back, the last step first. It asks before each step and says until when
that is possible; --yes answers. With --until it ends after that step, or that phase.`
