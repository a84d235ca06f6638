package main

import (
	"context"
	"io"
	"strconv"

	"causeway/app/rails"
)

// writeOpenPayments lists what can still be stopped and what has left; nothing if every payment has ended.
func writeOpenPayments(ctx context.Context, out io.Writer, service *rails.Service, name string) error {
	open, err := service.OpenPayments(ctx, name)
	if err != nil || len(open) == 0 {
		return err
	}
	t := table{rightAligned: []int{2, 3, 4, 5}}
	for _, o := range open {
		connection := o.Connection
		if connection == "" {
			connection = "-"
		}
		t.add(connection, string(o.Rail), strconv.FormatInt(o.Held.Count, 10), o.Held.Amount.Major(o.Currency)+" "+string(o.Currency),
			strconv.FormatInt(o.Left.Count, 10), o.Left.Amount.Major(o.Currency)+" "+string(o.Currency))
	}
	if _, err := io.WriteString(out, "\n"); err != nil {
		return err
	}
	return t.write(out, "payments of", "rail", "can be stopped", "amount", "have left", "amount")
}
