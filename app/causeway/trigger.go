package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"causeway/adapters/apiclient"
	"causeway/adapters/apiclient/trigger"
	"causeway/adapters/cli"
)

type triggerCommand struct {
	tokenFlags
	Event string `arg:"" optional:"" help:"Name of the event, such as OUTGOING_PAYMENT.COMPLETED. Without it, all events are listed."`
}

// Run makes the event happen, or lists what can be made to happen.
func (c triggerCommand) Run(ctx context.Context, env *cli.Env) error {
	if c.Event == "" {
		return listTriggers(env.Out)
	}
	if err := apiclient.UnknownNames([]string{c.Event}, eventNames()); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	id, err := trigger.Event(ctx, client, c.Event, func(method, path string, status int) {
		fmt.Fprintf(env.Out, "%s %s: %d\n", method, path, status)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "%s happened: %s\n", c.Event, id)
	return err
}

func listTriggers(out io.Writer) error {
	rows := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, name := range eventNames() {
		t, _ := trigger.Of(name)
		does := t.Does
		switch {
		case t.Never != "":
			does = "cannot be triggered: " + t.Never
		case t.Needs != "":
			does += "; needs " + t.Needs
		}
		fmt.Fprintf(rows, "%s\t%s\n", name, does)
	}
	return rows.Flush()
}
