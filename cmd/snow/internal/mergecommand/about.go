package mergecommand

const aboutInspect = `Write a plan of the merge: what becomes of each table and column, with questions
that people answer in the file. Sources are only read. An existing plan is never
overwritten.`

const aboutQuestions = `Show the questions of a plan in its short form, with the answers that there are and what
follows from each. With the sources more is known about each column.

With --serve they are a page in the browser, with rows of the sources: a click writes an
answer into the plan. The page is on 127.0.0.1 only. Its address is secret, and is printed.
Ctrl-C or the page's button ends it.

  snow merge questions --plan plan.yaml
  snow merge questions --plan plan.yaml --source eu=env:EU --source us=env:US --serve`

const aboutSettle = `Write the plan again: answers become decisions, and the questions are left out.
Comments in the file are lost.

With --interactive, the questions are asked first, one after the other: a number is an
answer, ? shows more, b goes back, s skips, e asks for each column or key by itself, and q
stops. Answers are in the file at once, beside the questions, and comments stay. Without
a terminal each line of standard input is an answer.

  snow merge settle --interactive --plan plan.yaml --source eu=env:EU --source us=env:US`

const aboutSchema = `Print the statements that make the target's tables. With --target they are
executed there. A plan in its short form needs its sources.`

const aboutNamespace = `Make the tables of package snow in the target, or in the database of --registry,
and the namespace of the new keys. If it exists with the same layout, nothing changes.`

const aboutDryRun = `Read everything and report what would stop a run, and what is left open. Nothing is
written. If it passes, a run with the same flags is not refused.

Exit status: 1 if something would stop a run, 3 if nothing would and something is left
open: not decided, or not checked.`

const aboutRun = `Merge the sources into the target and verify. After an interruption, the same command
continues. It asks before it writes; --yes answers. "snow merge dry-run" tries it.

A run pauses at the signal USR1 and goes on at the next one.

Exit status: 1 if a check failed, 3 if nothing was found wrong and something was left
open: not decided, or not checked.`

const aboutVerify = `Verify the target again, as a run does at its end. Nobody may have used the target.

Exit status: 1 if a check failed, 3 if nothing was found wrong and something was left
open: not decided, or not checked.`

const aboutGroups = `Run a step for many groups of servers. Each group is merged into its own target,
all by one plan. --groups names a YAML file:

  groups:
  - name: east
    sources: ['s1=env:S1', 's2=env:S2']
    target: env:EAST

A group that fails does not stop the others. With the same command again, groups
that are done are only verified.`

const aboutLookup = `Show the new id of the row with the old id ID in a table of a source.`

const aboutExport = `Write all new ids as CSV: source,table,old_id,new_id. With --list left-out the
rows that were left out: source,table,row,reason. With --list renamed the new
names: source,table,row,new_id,column,before,after.`
