package lightning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/ports"
)

// Invoices implements ports.LightningNode.
func (r *Rail) Invoices(p ident.Platform) ports.Lightning { return invoices{r, p} }

// invoices are those of a platform.
type invoices struct {
	rail     *Rail
	platform ident.Platform
}

// maxInvoiceExpiry bounds for how long an invoice is good.
const maxInvoiceExpiry = 30 * 24 * time.Hour

// Invoice implements ports.Lightning. The node makes the preimage, and only the invoice that was kept first is given to anybody: one that
// was made in vain cannot be paid, because nobody has it.
func (i invoices) Invoice(ctx context.Context, request ports.InvoiceRequest) (ports.Invoice, error) {
	r := i.rail
	kept, found, err := r.Store.Invoice(ctx, i.platform, request.ID)
	if err != nil {
		return ports.Invoice{}, err
	}
	if !found {
		if kept, err = i.order(ctx, request); err != nil {
			return ports.Invoice{}, err
		}
	}
	if kept.isCancelled() {
		return ports.Invoice{}, fault.New(fault.Conflict, "The invoice was cancelled before it was made.")
	}
	if kept.Reference != request.Reference || kept.Amount.Minor != request.Amount.Minor || request.Amount.Currency != money.BTC ||
		kept.DescriptionHash != request.DescriptionHash {
		return ports.Invoice{}, fault.New(fault.Conflict, "There is another invoice with this id.")
	}
	return kept.Invoice, nil
}

// order has the node make an invoice, and returns the one that was kept first.
func (i invoices) order(ctx context.Context, request ports.InvoiceRequest) (StoredInvoice, error) {
	r := i.rail
	now := r.Clock.Now()
	expiry := request.ExpiresAt.Sub(now).Truncate(time.Second)
	switch {
	case request.Amount.Currency != money.BTC || request.Amount.Minor <= 0 || request.Fraction < 0 || request.Fraction >= milli:
		return StoredInvoice{}, fault.New(fault.InvalidCurrency, "Invoices are made for whole satoshis above zero.")
	case expiry < time.Second || expiry > maxInvoiceExpiry:
		return StoredInvoice{}, fault.New(fault.InvalidInput, "An invoice expires within a second to 30 days.")
	}
	if _, known, err := r.Store.Position(ctx, r.Connection.Name); err != nil || !known {
		if err == nil {
			err = r.beginFeed(ctx) // so that its payment is reported
		}
		if err != nil {
			return StoredInvoice{}, unavailable(err)
		}
	}
	ordered := request.Amount.Minor*milli + request.Fraction
	text, err := r.node.addInvoice(ctx, invoiceOrder{memo: request.Reference, milliSatoshis: ordered,
		descriptionHash: request.DescriptionHash, expiry: expiry, routeHints: r.settings.routeHints})
	if fault.Is(err, fault.InvalidInput) {
		return StoredInvoice{}, err
	}
	if err != nil {
		return StoredInvoice{}, unavailable(err)
	}
	made, err := lightning.ParseInvoice(text)
	switch {
	case err != nil:
		return StoredInvoice{}, unavailable(fmt.Errorf("the node has made an invoice that %w", err))
	case made.ExpiresAt.Before(now.Add(expiry / 2)), made.ExpiresAt.After(request.ExpiresAt.Add(expiry / 2)):
		return StoredInvoice{}, unavailable(fmt.Errorf("the node has made an invoice that expires at %s and not at %s; set its clock",
			made.ExpiresAt, request.ExpiresAt))
	case made.Network != r.settings.network || made.MilliSatoshis != ordered || !describes(made, request):
		return StoredInvoice{}, unavailable(errors.New("the node has made another invoice than it was asked for"))
	}
	kept, err := r.Store.KeepInvoice(ctx, StoredInvoice{Platform: i.platform, Connection: r.Connection.Name, InvoiceRequest: request,
		Invoice:   ports.Invoice{Request: text, PaymentHash: made.PaymentHash, ExpiresAt: made.ExpiresAt},
		CreatedAt: now})
	return kept, err
}

// describes reports whether an invoice has the description that was asked for.
func describes(made lightning.Invoice, request ports.InvoiceRequest) bool {
	if request.DescriptionHash == [32]byte{} {
		return made.DescriptionHash == nil && made.Description == request.Reference
	}
	return made.DescriptionHash != nil && *made.DescriptionHash == request.DescriptionHash
}

// unavailable is the fault of a node that cannot be asked now.
func unavailable(err error) error {
	return fmt.Errorf("%w: %w", fault.New(fault.ServiceUnavailable, "The Lightning node is not available. Repeat the request later."), err)
}

// expiryGrace is how long after its expiry an invoice may still settle that is not cancelled: a payment may have been under way then, and
// the clock of the node may be behind.
const expiryGrace = 2 * time.Minute

// CancelInvoice implements ports.Lightning. That there is no invoice with the id is kept: one that the node makes meanwhile, or later, is
// given to nobody.
func (i invoices) CancelInvoice(ctx context.Context, id uuid.UUID) error {
	r := i.rail
	kept, found, err := r.Store.Invoice(ctx, i.platform, id)
	if err == nil && !found {
		kept, err = r.Store.KeepInvoice(ctx, StoredInvoice{Platform: i.platform, Connection: r.Connection.Name,
			InvoiceRequest: ports.InvoiceRequest{ID: id}, Invoice: ports.Invoice{ExpiresAt: r.Clock.Now().Add(maxInvoiceExpiry)},
			CreatedAt: r.Clock.Now()})
	}
	switch {
	case err != nil || kept.isCancelled():
		return err
	case kept.Connection != r.Connection.Name:
		return fault.New(fault.ServiceUnavailable, "The invoice is that of the connection %s.", kept.Connection)
	}
	switch err := r.node.cancelInvoice(ctx, kept.PaymentHash); {
	case errors.Is(err, errSettled):
		return fault.New(fault.Conflict, "The invoice was paid.")
	case errors.Is(err, errCannotCancel) && !kept.Invoice.ExpiresAt.Add(expiryGrace).After(r.Clock.Now()):
		return nil
	case errors.Is(err, errCannotCancel):
		return fault.New(fault.NotImplemented, "This node cannot cancel invoices. The invoice expires at %s.",
			kept.Invoice.ExpiresAt.Format(time.RFC3339))
	case err != nil:
		return unavailable(err)
	}
	return nil
}
