package transaction_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

// idWithNumber returns the id of its kind with number n.
func idWithNumber[K ident.Kind](id ident.ID[K], n byte) ident.ID[K] {
	id.SetUUID(uuid.UUID{15: n})
	return id
}

// transferOutParties returns a customer with a dollar account and a bank account.
func transferOutParties() transaction.TransferOutParties {
	ana := customer.Customer{ID: idWithNumber(ident.Customer{}, 1), PlatformCustomerID: "ana", Status: customer.Approved}
	return transaction.TransferOutParties{
		Customer: &ana,
		From: &account.Internal{ID: idWithNumber(ident.InternalAccount{}, 2), Customer: ana.ID, Currency: "USD",
			Type: account.InternalFiat, Status: account.InternalActive},
		To: &account.External{ID: idWithNumber(ident.ExternalAccount{}, 3), Customer: ana.ID, Currency: "USD", Type: account.USAccount,
			Status: account.Active, Rails: []corridor.Rail{corridor.RTP, corridor.ACH}},
	}
}

func TestTransfers_AgentSeesItsCustomerOnly(t *testing.T) {
	t.Parallel()
	// What is not the customer's is nil: another customer's, the platform's, and all for a zero customer.
	own, none := idWithNumber(ident.Customer{}, 1), ident.Customer{}
	for name, c := range map[string]struct {
		owner, sees ident.Customer
		visible     bool
	}{
		"own": {own, own, true}, "another's": {idWithNumber(ident.Customer{}, 2), own, false}, "the platform's": {none, own, false},
		"no customer": {none, none, false},
	} {
		internal, external := &account.Internal{Customer: c.owner}, &account.External{Customer: c.owner}
		var owner *customer.Customer
		if !c.owner.IsZero() {
			owner = &customer.Customer{ID: c.owner}
		}
		out := transaction.TransferOutParties{Customer: owner, From: internal, To: external}.VisibleTo(c.sees)
		in := transaction.IncomingParties{Owner: owner, To: internal, From: external}.VisibleTo(c.sees)
		if got := []bool{out.Customer != nil, out.From != nil, out.To != nil, in.Owner != nil, in.To != nil, in.From != nil}; slices.Contains(got,
			!c.visible) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if out, in := (transaction.TransferOutParties{}).VisibleTo(own), (transaction.IncomingParties{}).VisibleTo(own); out.From != nil ||
		in.To != nil {
		t.Error("what does not exist is visible")
	}
}

func TestTransferOut_MakePostsTransfer(t *testing.T) {
	t.Parallel()
	// The account is debited when the transfer is created; the call of the rail is the next step.
	p := transferOutParties()
	out := transaction.TransferOut{Platform: idWithNumber(ident.Platform{}, 9), From: p.From.ID, To: p.To.ID, Amount: 5000}

	d, err := out.Make(idWithNumber(ident.Transaction{}, 4), p, noon)
	if err != nil {
		t.Fatal(err)
	}

	tx, want := d.Transaction, money.Amount{Minor: 5000, Currency: "USD"}
	if tx.State != transaction.TransferInitial || tx.Pricing.Sent != want || tx.Pricing.Received != want || tx.Pricing.Fees != 0 ||
		tx.DestinationAccount != "rails/RTP" || tx.PlatformCustomerID != "ana" || d.Next != transaction.StepDeliver {
		t.Errorf("%+v, next %s", tx, d.Next)
	}
	if len(d.Postings) != 1 || len(d.Postings[0].Entries) != 1 {
		t.Fatalf("%+v", d.Postings)
	}
	entry := d.Postings[0].Entries[0]
	if entry.Debit != ledger.CustomerAccount(p.From.ID) || entry.Credit != ledger.TransitPayouts || entry.Amount != 5000 {
		t.Errorf("%+v", entry)
	}
}

func TestTransferOut_MakeRefused(t *testing.T) {
	t.Parallel()
	// Every invalid party or amount is refused with its own fault.
	for name, c := range map[string]struct {
		change func(*transaction.TransferOutParties)
		code   fault.Code
	}{
		"no account that pays":     {func(p *transaction.TransferOutParties) { p.From = nil }, fault.InternalAccountNotFound},
		"no account that receives": {func(p *transaction.TransferOutParties) { p.To = nil }, fault.ExternalAccountNotFound},
		"a customer not ready":     {func(p *transaction.TransferOutParties) { p.Customer.Status = customer.Pending }, fault.UserNotReady},
		"a frozen account":         {func(p *transaction.TransferOutParties) { p.From.Status = account.InternalFrozen }, fault.InvalidInput},
		"an account under review":  {func(p *transaction.TransferOutParties) { p.To.Status = account.UnderReview }, fault.InvalidInput},
		"another customer's": {func(p *transaction.TransferOutParties) { p.To.Customer = idWithNumber(ident.Customer{}, 7) },
			fault.InvalidInput},
		"another currency":   {func(p *transaction.TransferOutParties) { p.From.Currency = "EUR" }, fault.InvalidInput},
		"an embedded wallet": {func(p *transaction.TransferOutParties) { p.From.Type = account.EmbeddedWallet }, fault.InvalidInput},
	} {
		p := transferOutParties()
		c.change(&p)

		if _, err := (transaction.TransferOut{Amount: 1}).Make(idWithNumber(ident.Transaction{}, 4), p, noon); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	for _, amount := range []int64{0, -1, money.MaxMinor + 1} {
		if err := (transaction.TransferOut{Amount: amount}).Check(); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%d: %v", amount, err)
		}
	}
}
