package main

import (
	"context"

	"causeway/adapters/http/api"
	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/accounts"
	"causeway/app/agents"
	"causeway/app/books"
	"causeway/app/customers"
	"causeway/app/exports"
	"causeway/app/internal/connections"
	"causeway/app/internal/foureyes"
	"causeway/app/jobs"
	"causeway/app/journals"
	"causeway/app/mail"
	"causeway/app/monthend"
	"causeway/app/notes"
	"causeway/app/payments"
	"causeway/app/people"
	"causeway/app/platformfees"
	"causeway/app/platforms"
	"causeway/app/pricing"
	"causeway/app/rails"
	"causeway/app/receivables"
	"causeway/app/receivers"
	"causeway/app/reconciliation"
	"causeway/app/requestlogs"
	"causeway/app/search"
	"causeway/app/treasury"
	"causeway/app/wallets"
	"causeway/app/webhooks"
	"causeway/app/yearend"
	"causeway/core/event"
)

// tx is the unit of work of every capability: that of the database, which is given events as the API renders them.
type tx struct{ *postgres.Unit }

// Every capability finds the methods of its units of work.
var (
	_ accounting.Tx     = tx{}
	_ accounts.Tx       = tx{}
	_ agents.Tx         = tx{}
	_ books.Tx          = tx{}
	_ customers.Tx      = tx{}
	_ exports.Tx        = tx{}
	_ connections.Tx    = tx{}
	_ foureyes.Tx       = tx{}
	_ jobs.Tx           = tx{}
	_ journals.Tx       = tx{}
	_ mail.Tx           = tx{}
	_ monthend.Tx       = tx{}
	_ notes.Tx          = tx{}
	_ payments.Tx       = tx{}
	_ people.Tx         = tx{}
	_ platformfees.Tx   = tx{}
	_ platforms.Tx      = tx{}
	_ rails.Tx          = tx{}
	_ receivables.Tx    = tx{}
	_ receivers.Tx      = tx{}
	_ reconciliation.Tx = tx{}
	_ requestlogs.Tx    = tx{}
	_ search.Tx         = tx{}
	_ treasury.Tx       = tx{}
	_ wallets.Tx        = tx{}
	_ webhooks.Tx       = tx{}
	_ yearend.Tx        = tx{}
	_ pricing.Tx        = (*postgres.PricingTx)(nil)
)

func newTx(u *postgres.Unit) any { return tx{u} }

// Emit renders events, from the resources as they are now, and stores them with the unit of work.
func (t tx) Emit(ctx context.Context, events []event.Event) error {
	rendered, err := api.Events.RenderAll(events)
	if err != nil {
		return err
	}
	return t.StoreEvents(ctx, rendered)
}
