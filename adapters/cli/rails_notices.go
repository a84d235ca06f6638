package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/bankorder"
)

type railsNoticesCommand struct {
	DatabaseFlags
	listFlags
	Name string `arg:"" help:"Name of a connection to a bank."`
}

func (c railsNoticesCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		notices, err := service.Notices(ctx, c.Name, c.Limit+1)
		return printList(env, c.listFlags, notices, err, listing[bankorder.KeptNotice]{
			columns: []string{"time", "notice", ">number", "file", "place", "about", "code", "more"},
			row: func(t *table.Table, n bankorder.KeptNotice) {
				t.Add(table.Minute(n.At), n.Kind, n.File, table.OrDash(n.FileName), n.Place, n.Name, table.OrDash(n.Code), table.OrDash(noticeText(n)))
			},
			none: "There is nothing to look at in the files of this connection.", more: "There are more, which are older. Raise --limit.",
		})
	})
}

// noticeText says why a file could not be read, or what is to be corrected.
func noticeText(n bankorder.KeptNotice) string {
	if n.Problem != "" {
		return n.Problem
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(n.Correction)) {
		texts = append(texts, name+"="+n.Correction[name])
	}
	return strings.Join(texts, " ")
}
