package console

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/core/agent"
	"causeway/core/books"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/quote"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

var (
	paymentID  = numbered(ident.Transaction{}, 10)
	customerID = numbered(ident.Customer{}, 11)
	webhookID  = numbered(ident.Webhook{}, 12)
	postingID  = uuid.UUID{0: 1, 15: 13}
	proposalID = numbered(ident.Proposal{}, 18)
)

// personal are words of personal data that fill has set.
var personal = []string{"Quetzal", "quetzal.mail", "quetzal.uma", "1951-02-03", "Cenote", "Tikal", "97751", "Itzamna", "itzamna.uma",
	"Kukulkan",
	"Xibalba", "Balam", "Ixchel", "Chaac", "Hunahpu"}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }

func newPayment() transaction.Transaction {
	return transaction.Transaction{ID: paymentID, Platform: ownPlatform, Customer: customerID, PlatformCustomerID: "customer-7",
		Quote: numbered(ident.Quote{}, 14), Agent: numbered(ident.Agent{}, 15), Type: transaction.Outgoing, Reference: "CWREF123",
		State:  transaction.State{Status: transaction.Failed, Refund: transaction.RefundPending, Reason: transaction.LightningFailed},
		Source: transaction.Endpoint{InternalAccount: numbered(ident.InternalAccount{}, 16), Currency: "USD"},
		Destination: transaction.Endpoint{ExternalAccount: numbered(ident.ExternalAccount{}, 17), UMA: "$itzamna.uma@bank.example",
			Currency: "BTC", Network: "LIGHTNING"},
		SourceRail: "ACH", DestinationRail: "SPARK", Description: "Kukulkan rent",
		Pricing:      transaction.Pricing{Sent: usd(100_50), Received: money.Amount{Minor: 123_456, Currency: "BTC"}, Fees: 1_05},
		Counterparty: map[string]string{"FULL_NAME": "Itzamna Xibalba"}, Payer: map[string]string{"FULL_NAME": "Quetzal Balam"},
		Rejection: transaction.Rejection{Code: "AC04", Text: "Ixchel account closed"},
		Refund:    &transaction.Refund{Amount: usd(100_50), Reason: transaction.RefundFailed, InitiatedAt: now},
		CreatedAt: now, UpdatedAt: now, SettledAt: now.Add(time.Minute), ExpectedSettlementAt: now.Add(time.Hour)}
}

func newIncoming() transaction.Transaction {
	t := transaction.Transaction{ID: numbered(ident.Transaction{}, 20), Platform: ownPlatform, Type: transaction.Incoming,
		State: transaction.State{Status: transaction.Completed}, CreatedAt: now, Pricing: transaction.AtPar(usd(7_00)),
		Source: transaction.Endpoint{UMA: "$itzamna.uma@bank.example"}}
	return t
}

func newDelivery() ports.Delivery {
	return ports.Delivery{ID: webhookID, Platform: ownPlatform, Type: "OUTGOING_PAYMENT", Name: "OUTGOING_PAYMENT.FAILED", Created: now,
		Status: event.Failed, NextAttempt: now.Add(time.Hour), Body: json.RawMessage(`{"counterparty":{"FULL_NAME":"Chaac"}}`),
		Attempts: []event.Attempt{{Number: 1, AttemptedAt: now, Duration: 12 * time.Millisecond, Outcome: "HTTP_ERROR", StatusCode: 500,
			Response: "Hunahpu is unknown"}, {Number: 2, AttemptedAt: now, Outcome: "TIMEOUT", Error: "no response within 10s"}}}
}

// newProposal returns a pending adjustment of another person.
func newProposal() proposal.Stated {
	p := proposal.New(proposalID, ownPlatform, books.ActionAdjustment, "createLedgerAdjustment", []byte(`{"note":"The bank's fee"}`),
		platform.Author{Token: numbered(ident.Token{}, 19), Actor: "Ana Lima"}, proposal.People{}, now)
	p.Figures = []byte(`{"difference":-700}`)
	return p.At(now)
}

func newPosting() ports.RecordedPosting {
	return ports.RecordedPosting{Posting: ledger.Posting{ID: postingID, Platform: ownPlatform, Kind: ledger.KindFee, Transaction: paymentID,
		Effective: now, Memo: "Fee", Reverses: uuid.UUID{15: 1}, Entries: []ledger.Entry{{Debit: "customers/1", Credit: "income/fees",
			Currency: "USD",
			Amount:   1_05}}}, Seq: 42, Recorded: now, ReversedBy: uuid.UUID{15: 2}}
}

// fill makes something of everything happen on the platform.
func (s *site) fill() *site {
	t := newPayment()
	s.payments.all = []transaction.Transaction{t, newIncoming()}
	c := customer.Customer{ID: customerID, Platform: ownPlatform, PlatformCustomerID: "customer-7", Type: customer.Individual, Region: "MX",
		Currencies: []money.Currency{"USD", "BTC"}, Email: "quetzal.mail@mail.example", UMAAddress: "$quetzal.uma@acme.example",
		Status:   customer.Approved,
		FullName: "Quetzal Balam", BirthDate: "1951-02-03", Nationality: "MX", Address: &party.Address{Line1: "Cenote 5", Line2: "Tikal",
			City:       "Balam",
			PostalCode: "97751", Country: "MX"}, CreatedAt: now, UpdatedAt: now, HeldAt: now, DeletedAt: now, ErasedAt: now}
	s.customers.all = []customer.Customer{c, {ID: numbered(ident.Customer{}, 21), Platform: ownPlatform, Type: customer.Business,
		CreatedAt: now,
		Business:  &customer.BusinessInfo{LegalName: "Quetzal Cenote"}}}
	d, p := newDelivery(), newPosting()
	s.proposals.all = []proposal.Stated{newProposal()}
	s.webhooks.all = []ports.Delivery{d, {ID: numbered(ident.Webhook{}, 22), Platform: ownPlatform, Name: "TEST", Status: event.Pending,
		Created: now}}
	other := p
	other.Transaction = numbered(ident.Transaction{}, 23)
	s.accounting.timeline = accounting.Timeline{Transaction: t, Events: []accounting.TimelineEvent{
		{At: now, Type: accounting.TimelineRequested},
		{At: now, Type: accounting.TimelineQuoted, Quote: &quote.Quote{Pricing: t.Pricing, ExpiresAt: now, Description: "Kukulkan rent"}},
		{At: now, Type: accounting.TimelineAgent, AgentAttempt: &agent.Attempt{Operation: agent.OpApprove, Decision: agent.Allowed}},
		{At: now, Type: accounting.TimelineAuthorized, Authorization: &wallet.Authorization{}},
		{At: now, Type: accounting.TimelineAssigned, Assignment: &transaction.Unmatched{Receipt: transaction.Receipt{Amount: usd(5)}}},
		{At: now, Type: accounting.TimelineRailReplied, RailReply: &ports.RailReply{Call: "PAY_OUT",
			Outcome: ports.Outcome{Verdict: ports.Refused,
				Reason: transaction.LightningFailed, PartnerID: "P-1", Code: "AC04", Text: "Ixchel account closed", RetryAt: now}}},
		{At: now, Type: accounting.TimelineReceivable, Receivable: &receivable.Change{Kind: receivable.Returned, Amount: 5}},
		{At: now, Type: accounting.TimelinePosted, Posting: &p},
		{At: now, Type: accounting.TimelinePosted, Posting: &other},
		{At: now, Type: accounting.TimelineWebhookEvent, Delivery: &d},
		{At: now, Type: accounting.TimelineWebhookAttempt, Delivery: &d, Attempt: &d.Attempts[0]},
	}}
	s.accounting.unmatched = []accounting.UnmatchedDetails{{Unmatched: transaction.Unmatched{Kind: ledger.KindUnmatchedReceived,
		SourceAccount: "rails/RTP", Posting: postingID, Since: now,
		Receipt: transaction.Receipt{ID: receiptID, Amount: usd(12_50), Reference: "Tikal MARCH", Rail: "RTP", PartnerID: "IN-1"}}}}
	columns := accounting.TrialBalanceColumns{Debits: money.TotalOf(1_05), Credits: money.TotalOf(1_05)}
	s.accounting.balance = accounting.TrialBalance{Lines: []accounting.TrialBalanceLine{{Path: "income/fees", Currency: "USD",
		Class:               ledger.Income,
		TrialBalanceColumns: columns, GL: books.GLAccount{Code: "4000", Name: "Fees"}}},
		Totals: []accounting.TrialBalanceTotal{{Currency: "USD", TrialBalanceColumns: columns}}}
	s.accounting.entries = ports.AccountEntryPage{Class: ledger.Income, Entries: []ports.AccountEntry{{Balance: money.TotalOf(1_05),
		RecordedEntry: ports.RecordedEntry{Entry: p.Entries[0], Posting: p.ID, Kind: p.Kind, Transaction: paymentID, Effective: now,
			Recorded: now,
			Position: ports.EntryPosition{Seq: 42, N: 1}}}}, More: true}
	s.accounting.posting = accounting.Posting{RecordedPosting: p, Authorisation: &period.Authorisation{Note: "Corrected", At: now}}
	s.jobs.all = []ports.ListedJob{{Job: ports.Job{ID: deadJobID, Step: transaction.StepForward, LastError: "refused",
		Attempts: 20, Dead: true},
		State: ports.JobDead, AddedAt: now, FailedAt: now}, {Job: ports.Job{Step: transaction.StepPull, Due: now},
		State: ports.JobWaiting, AddedAt: now}}
	s.fillFinance()
	s.fillFinanceLists()
	s.fillRails()
	s.fillReviews()
	s.fillDevelopers()
	s.filters.all = []person.SavedFilter{{Name: "Waiting", Query: "status=PENDING"}}
	s.activity.all = []ports.Activity{{ID: entryID, At: now, Actor: "sam@acme.example", Action: "RELEASE_PAYOUT",
		Note:      "Known",
		SubjectID: paymentID.UUID()}}
	s.people.everyone = []person.Person{newPerson(person.Grant{Role: person.Viewer}, person.Grant{Role: person.Finance,
		Platform: ownPlatform})}
	return s
}

// reduce leaves only what must be there: zero values in the payment, the customer, the webhook and the posting.
func (s *site) reduce() *site {
	s.accounting.timeline = accounting.Timeline{Transaction: transaction.Transaction{ID: paymentID}, Complete: true}
	s.customers.all = []customer.Customer{{ID: customerID}}
	s.webhooks.all = []ports.Delivery{{ID: webhookID}}
	s.accounting.posting = accounting.Posting{RecordedPosting: ports.RecordedPosting{Posting: ledger.Posting{ID: postingID}}}
	return s
}
