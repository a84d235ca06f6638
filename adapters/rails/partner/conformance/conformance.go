// Package conformance tests a sidecar with the contract of docs/partner-contract.md: it submits payments with test
// values as the service does, reads and receives the events, and checks each rule.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/partner"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports"
)

// Options say which sidecar is tested, and with what.
type Options struct {
	// Connection has the settings url and secret, and if needed plainHttp, caFile and timeout.
	Connection rail.Connection
	Secrets    ports.Secrets
	Clock      ports.Clock
	// Timeout is the maximum time to wait for something that the sidecar does by itself.
	Timeout time.Duration
	// Kinds are the payments that the sidecar can make; the first is used where any will do.
	Kinds    []partner.Kind
	Rail     string
	Currency money.Currency
	Account  partner.Account
	// Sends says that the sidecar sends its events to the suite.
	Sends bool
	// Skip are the names of rules that are not checked.
	Skip []string
}

// Result is the result of a rule.
type Result struct {
	// Rule is the name of the rule, and Text says what it asks for.
	Rule, Text string
	Skipped    bool
	Err        error // nil if the sidecar follows the rule
}

// Suite tests one sidecar once. As a http.Handler it receives the events.
type Suite struct {
	Options
	client   *partner.Client
	secrets  signedmessage.Secrets
	platform ident.Platform
	received *inbox
	payments map[string]*testPayment // by the name of their test value
	events   eventList
}

// DefaultAccount is the account of an invented person in the United States.
func DefaultAccount() partner.Account {
	return partner.Account{Type: "US_ACCOUNT", Currency: "USD", Country: "US", Fields: map[string]string{"accountNumber": "123456789",
		"routingNumber": "021000021"},
		Holder: &partner.Holder{Type: "INDIVIDUAL", Name: "Ana Silva", CountryOfResidence: "US"}}
}

// New returns a suite, or an error for options that are not valid.
func New(ctx context.Context, o Options) (*Suite, error) {
	if len(o.Kinds) == 0 || slices.ContainsFunc(o.Kinds, func(k partner.Kind) bool { return k.Path() == "" }) {
		return nil, errors.New("at least one kind is required, of PAYOUT, COLLECTION and REFUND")
	}
	s := &Suite{Options: o, platform: ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.New() }, o.Clock.Now()), received: newInbox(),
		payments: map[string]*testPayment{}}
	if err := checkSkipped(o.Skip, s.rules()); err != nil {
		return nil, err
	}
	var err error
	s.client, s.secrets, err = open(ctx, o.Connection, o.Secrets, o.Clock)
	return s, err
}

func checkSkipped(skip []string, rules []rule) error {
	for _, name := range skip {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.name == name }) {
			return fmt.Errorf("there is no rule %q to skip", name)
		}
	}
	return nil
}

// open returns a client for a connection, and its secrets.
func open(ctx context.Context, c rail.Connection, from ports.Secrets, clock ports.Clock) (*partner.Client, signedmessage.Secrets, error) {
	client, err := partner.OpenClient(c, from, clock, nil)
	if err != nil {
		return nil, nil, err
	}
	text, err := from.Secret(ctx, c.Settings["secret"])
	if err != nil {
		return nil, nil, err
	}
	secrets, err := signedmessage.Parse(string(text))
	return client, secrets, err
}

// rule is one rule of the contract.
type rule struct {
	name, text string
	check      func(context.Context) error
}

// signing returns the checks of signatures, with a request of which nothing is read and one that pays.
func (s *Suite) signing() signing {
	return signing{s.Connection, s.Clock, s.secrets, []request{
		{"GET /balances", func(ctx context.Context, client *partner.Client) error { return orError(client.Balances(ctx)) }},
		{"POST " + s.Kinds[0].Path(), func(ctx context.Context, client *partner.Client) error {
			return orError(client.Payment(ctx, s.newPayment(s.Kinds[0], 0), true))
		}}}}
}

func (s *Suite) rules() []rule {
	rules := []rule{{"health", "GET /health says what the sidecar is", s.checkHealth}}
	rules = append(append(rules, s.signing().rules()...),
		rule{"balances", "GET /balances names each currency once", s.checkBalances},
		rule{"events", "GET /events lists what has happened", s.checkEvents},
		rule{"unknown", "the state of a payment that was not submitted is 404", s.checkUnknown})
	for _, k := range s.Kinds {
		rules = append(rules, rule{"settle-" + strings.ToLower(string(k)), "without a test value a payment settles", s.checkSettles(k)})
	}
	rules = append(rules,
		rule{"once", "a repeated request moves no money, and has the same partnerId", s.checkOnce},
		rule{"at-once", "requests at the same time move the money once", s.checkParallel},
		rule{"conflict", "another amount for a known payment gets 409, and changes nothing", s.checkConflict},
		rule{"amount", "an amount with more digits than a floating-point number has is kept", s.checkAmount},
		rule{"reject", "a payment that is rejected at once has a code (test value 91)", s.checkRejected(rejects)},
		rule{"reject-later", "a payment that was accepted is rejected later, with a code (92)", s.checkRejected(rejectsLater)},
		rule{"pending", "a payment that has to wait is PENDING, and settles later (93)", s.checkPending},
		rule{"busy", "what cannot be taken now gets 503 or 429 with Retry-After, and is taken only later (94)", s.checkBusy},
		rule{"lost-answer", "a payment whose answer was lost is known, and settles once (95)", s.checkLostAnswer},
	)
	if len(s.Kinds) > 1 {
		rules = append(rules, rule{"kind", "a payment of another kind with the same id is another payment", s.checkKind})
	}
	if s.Kinds[0] != partner.Refund {
		rules = append(rules, rule{"return", "a settled payment is returned, with a code and its times (96)", s.checkReturned})
	}
	rules = append(rules,
		rule{"payment-event", "a payment that settled, was rejected later or returned has an event", s.checkPaymentEvents},
		rule{"receipt", "money that was received has an event with the reference of its payer (97)", s.checkReceipt},
		rule{"reversal", "a receipt that is taken back has an event that names the receipt (98)", s.checkReversal},
		rule{"fee", "a fee has an event (99)", s.checkFee},
		rule{"event-id", "each event has an id of its own", s.checkEventIDs},
		rule{"cursor", "a cursor that was used before still has the same events after it", s.checkCursor},
		rule{"limit", "a page has at most as many events as the request allows, and none is left out", s.checkLimit})
	if s.Sends {
		rules = append(rules,
			rule{"send", "events are sent", s.checkSent},
			rule{"send-signed", "every message is signed, with the present time", s.checkSentSigned},
			rule{"send-body", "every message is an event that is listed too, with the same content", s.checkSentBodies},
			rule{"send-again", "a message that gets 503 is sent again, with the same event", s.checkSentAgain})
	}
	return rules
}

// Run checks every rule, calls report for each, and returns how many the sidecar does not follow.
func (s *Suite) Run(ctx context.Context, report func(Result)) (failed int) {
	defer s.client.Close()
	return run(ctx, s.rules(), s.Skip, report)
}

func run(ctx context.Context, rules []rule, skip []string, report func(Result)) (failed int) {
	for _, r := range rules {
		if ctx.Err() != nil {
			return failed
		}
		result := Result{Rule: r.name, Text: r.text, Skipped: slices.Contains(skip, r.name)}
		if !result.Skipped {
			result.Err = r.check(ctx)
		}
		if result.Err != nil {
			failed++
		}
		report(result)
	}
	return failed
}

// await repeats a question until it is answered with true or the time is over, and reports whether it was.
func (s *Suite) await(ctx context.Context, ask func(context.Context) (bool, error)) (bool, error) {
	const longest = time.Second
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, longest) {
		done, err := ask(ctx)
		if ctx.Err() != nil {
			return false, nil
		}
		if done || err != nil {
			return done, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false, nil
		}
	}
}

// newPayment returns a payment that was not submitted, with an amount that ends in two digits.
func (s *Suite) newPayment(k partner.Kind, ending partner.Minor) partner.Payment {
	id := uuid.New()
	p := partner.Payment{Kind: k, ID: id.String(), EndToEndID: rail.EndToEndID(id), PlatformID: s.platform.String(), Rail: s.Rail,
		Account: &s.Account,
		Amount:  partner.Amount{Minor: 10_00 + ending, Currency: string(s.Currency), Decimals: s.Currency.Decimals()}}
	p.Reference = "TEST-" + p.EndToEndID[:12]
	if k == partner.Refund {
		p.Original = &partner.Original{PartnerID: "TEST-" + p.EndToEndID, Payer: &s.Account}
	}
	return p
}
