package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/rail"
)

type railsHistoryCommand struct {
	DatabaseFlags
	outputFlag
	Name string `arg:"" help:"Name of a connection, or a rail such as SEPA."`
}

func (c railsHistoryCommand) Run(ctx context.Context, env *Env) error {
	return c.withRails(ctx, env, func(service *rails.Service) error {
		changes, err := service.History(ctx, c.Name)
		if err != nil {
			return err
		}
		t := table.New("time", "change", "by", "why", "changed")
		var before rail.Connection
		for _, change := range changes {
			if p := change.Pause; p != nil {
				t.Add(table.Minute(p.At), map[bool]string{true: "paused", false: "resumed"}[p.Paused], p.By, p.Note, table.OrDash(""))
				continue
			}
			if test := change.Test; test != nil {
				result := map[bool]string{true: "passed", false: "failed"}[test.Passed]
				t.Add(table.Minute(test.At), fmt.Sprintf("test of version %d %s", test.Version, result), table.OrDash(""),
					cmp.Or(test.Problem, strings.Join(test.Checked, "; ")), table.OrDash(""))
				continue
			}
			v := change.Version
			changed := changedFields(before, v.Connection)
			switch {
			case v.Deleted:
				changed = "deleted"
			case v.Retired:
				changed = "retired"
			}
			by := v.By
			if approver := v.Approval.By.Actor; approver != "" {
				by += ", approved by " + approver
			}
			t.Add(table.Minute(v.SetAt), fmt.Sprintf("version %d", v.Version), by, v.Note, changed)
			before = v.Connection
		}
		return c.printTable(env, t, c.Name+" was never paused.")
	})
}

// changedFields names what differs between two versions of a connection.
func changedFields(before, after rail.Connection) string {
	if before.Version == 0 {
		return "created"
	}
	var names []string
	add := func(name string, same bool) {
		if !same {
			names = append(names, name)
		}
	}
	add("rails", slices.Equal(before.Rails, after.Rails))
	add("currencies", slices.Equal(before.Currencies, after.Currencies))
	add("countries", slices.Equal(before.Countries, after.Countries))
	add("platforms", slices.Equal(before.Platforms, after.Platforms))
	add("unmatched", before.Unmatched == after.Unmatched)
	add("priority", before.Priority == after.Priority)
	add("limits", slices.Equal(before.Limits, after.Limits))
	add("schedules", reflect.DeepEqual(before.Schedules, after.Schedules))
	seen := map[string]bool{}
	for _, settings := range []map[string]string{before.Settings, after.Settings} {
		for name := range settings {
			seen[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		add("settings."+name, before.Settings[name] == after.Settings[name])
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
