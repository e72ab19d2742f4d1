package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/shardsnow/snow/internal/refname"
	"github.com/shardsnow/snow/merge/internal/sqlvalue"
	"github.com/shardsnow/snow/merge/plan"
)

// programWords end the names of texts that programs look for: with a suffix they would not find them.
var programWords = []string{
	"code", "key", "slug", "word", "setting", "option", "variable", "param", "parameter", "property", "config", "identifier", "license", "path", "url", "domain",
	"ip", "host", "hwid", "mac", "hash", "token", "locale", "lang", "language", "serial", "uuid", "guid", "steam", "discord", "version", "permission", "role", "job",
}

// rename proposes what becomes of rows that clash in a key with a text: a suffix, if the text is a name. A text that
// programs or people know is not changed.
func (f *clashFinder) rename(ctx context.Context, t *plan.Table, u *plan.Unique, text *plan.Column, share float64, refers string) {
	if text == nil {
		return
	}
	if tied := f.plan.Tied(t, text.Name); len(tied) > 0 {
		u.Suspects = append(u.Suspects, fmt.Sprintf("no suffix: foreign keys tie %s to %s", list(tied, 3), text.Name))
		return
	}
	if why := f.fixed(t, u, text); why != "" {
		u.Suspects = append(u.Suspects, "no suffix: "+why)
		if refers == "" && share >= 0.5 {
			u.Rule = plan.RuleKeep
			u.Suspects = append(u.Suspects, "so the row of the first source stays, and the others become one with it")
		}
		return
	}
	u.Rule = plan.RuleSuffix
	var stay []string
	for _, one := range f.followers(ctx, t, text) {
		if !f.follow(t, text, one) {
			stay = append(stay, one.table.Name+"."+one.column.Name)
		}
	}
	if len(stay) > 0 {
		u.Suspects = append(u.Suspects, fmt.Sprintf("%s of the same values would not follow a new %s", list(stay, 3), text.Name))
	}
}

// fixed says why a text is no name that may be changed, or "".
func (f *clashFinder) fixed(t *plan.Table, u *plan.Unique, text *plan.Column) string {
	words := refname.Words(text.Name)
	mails, all := 0, 0
	for _, values := range f.values(t, text.Name) {
		for _, v := range values {
			name, host, ok := strings.Cut(sqlvalue.Text(v), "@")
			if all++; ok && name != "" && strings.Contains(host, ".") {
				mails++
			}
		}
	}
	last := ""
	if len(words) > 0 {
		last = refname.Singular(words[len(words)-1])
	}
	switch {
	case 2*mails > all, slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "mail") }):
		return text.Name + " has addresses, and mail to a new one does not arrive; choose keep if equal addresses are one person"
	case slices.Contains(programWords, last):
		return "programs and people know " + text.Name + " by its value"
	case t.Key() == nil && slices.Equal(u.Columns, t.PrimaryKey) && len(u.Columns) == 1:
		return text.Name + " is the primary key, so that programs know rows by it"
	}
	return ""
}
