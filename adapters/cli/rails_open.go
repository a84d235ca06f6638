package cli

import (
	"context"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
)

// addOpenPayments adds what can still be stopped and what has left; people read nothing if every payment has ended.
func addOpenPayments(ctx context.Context, page *table.Page, service *rails.Service, name string) error {
	open, err := service.OpenPayments(ctx, name)
	if err != nil {
		return err
	}
	t := table.New("payments of|connection", "rail", ">can be stopped", ">amount|amount_can_be_stopped", ">have left",
		">amount|amount_have_left")
	for _, o := range open {
		t.Add(table.OrDash(o.Connection), o.Rail, o.Held.Count, o.Held.Amount.Major(o.Currency)+" "+string(o.Currency),
			o.Left.Count, o.Left.Amount.Major(o.Currency)+" "+string(o.Currency))
	}
	if t.Len() > 0 {
		page.Line("")
	}
	page.Table("open_payments", t, "")
	return nil
}

// printOpenPayments prints what can still be stopped and what has left.
func printOpenPayments(ctx context.Context, env *Env, service *rails.Service, name string) error {
	var page table.Page
	if err := addOpenPayments(ctx, &page, service, name); err != nil {
		return err
	}
	return page.Write(env.Out, table.Text)
}
