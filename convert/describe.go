package convert

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/shardsnow/snow/convert/internal/job"
	"github.com/shardsnow/snow/convert/internal/schema"
	"github.com/shardsnow/snow/convert/plan"
	"github.com/shardsnow/snow/sqlsnow"
)

// Describe fills in the steps of a plan, for people: what is sent to the server, what that blocks, and until when it
// can be taken back. The plan must pass [plan.Plan.Check]. Steps that the plan had are replaced.
func Describe(dialect sqlsnow.Dialect, p *plan.Plan) error {
	steps, err := stepsOf(dialect, p)
	if err != nil {
		return fmt.Errorf("convert: describe: %w", err)
	}
	describe(p, steps)
	return nil
}

// describeAll describes the steps as if all questions were answered with widen.
func describeAll(dialect sqlsnow.Dialect, p *plan.Plan) error {
	if len(p.Tables) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := p.WriteYAML(&b); err != nil {
		return err
	}
	widened, err := plan.Read(&b)
	if err != nil {
		return err
	}
	for _, q := range widened.Questions {
		q.Answer = plan.Widen
	}
	widened.Resolve()
	steps, err := stepsOf(dialect, widened)
	if err != nil {
		return err
	}
	describe(p, steps)
	return nil
}

// describe writes steps as a plan has them.
func describe(p *plan.Plan, steps []job.Step) {
	p.Steps = nil
	for _, s := range steps {
		d := &plan.Described{Name: s.Name, Title: s.Title, Blocks: s.Blocks, Gate: s.Gate, Back: s.Back}
		for _, statement := range s.Statements {
			d.Statements = append(d.Statements, statement+howAltered(p.Server, statement))
		}
		p.Steps = append(p.Steps, d)
	}
}

// howAltered returns a comment that says how MySQL or MariaDB carries out ALTER TABLE, or "". Tables of the
// conversion's own are empty then.
func howAltered(server, statement string) string {
	product, version, _ := strings.Cut(server, " ")
	if product != "MySQL" && product != "MariaDB" || !strings.HasPrefix(statement, "ALTER TABLE ") || strings.Contains(statement, "_snow_") {
		return ""
	}
	for _, change := range []struct {
		words string
		is    schema.Change
	}{
		{"without AUTO_INCREMENT", schema.DropAutoIncrement},
		{" MODIFY ", schema.WidenColumn},
		{" FOREIGN KEY (", schema.AddForeignKey},
		{" DROP FOREIGN KEY ", schema.DropForeignKey},
		{" AUTO_INCREMENT = ", schema.SetAutoIncrement},
	} {
		if !strings.Contains(statement, change.words) {
			continue
		}
		algorithm, blocks := schema.AlgorithmOf(product, version, change.is)
		how := map[schema.Algorithm]string{schema.Instant: "instant", schema.InPlace: "in place", schema.Copy: "copies the table"}[algorithm]
		if blocks {
			how += ", and blocks writers meanwhile"
		}
		return " -- " + server + ": " + how
	}
	return ""
}
