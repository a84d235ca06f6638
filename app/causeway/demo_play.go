package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

// play is one payment on its way: what it talks to, and what it learnt so far.
type play struct {
	screen *screen
	caller *caller
	books  ports.LedgerReader // nil: they cannot be seen from here
	// patience is how long a webhook may take, the TEST event a little less: it is
	// sent only once.
	patience, patienceForTest time.Duration
	// program is how it was called.
	program string

	hooks     *receiver
	platform  ident.Platform
	customer  string
	account   string
	quote     answer
	reference string
	// transaction is the payment's, once it has a quote.
	transaction string
}

const (
	demoPatience = 15 * time.Second
	testPatience = 2 * time.Second
)

func newPlay(mine credentials, out io.Writer) *play {
	s := newScreen(out)
	return &play{screen: s, caller: newCaller(mine, s), patience: demoPatience, patienceForTest: testPatience, program: os.Args[0]}
}

// run plays from beginning to end. Where the platform's webhooks went before, they
// go again afterwards, however the play ends.
func (p *play) run(ctx context.Context) (err error) {
	began := time.Now()
	p.screen.title("A payment, played: 100.50 US dollars in, bitcoin out",
		"Everything below happens now, on "+p.caller.base)
	restore, err := p.listen(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	for _, step := range []func(context.Context) error{
		p.createCustomer, p.registerWallet, p.askRates, p.createQuote, p.pay, p.lookBack, p.showEntries, p.showBalances,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	p.screen.end(fmt.Sprintf("Played in %s.", time.Since(began).Round(time.Millisecond)),
		fmt.Sprintf("Play it again with: %s demo. Prove the books with: %[1]s ledger check.", p.program))
	return p.screen.failed
}

// listen makes this program the place where the platform's webhooks go, and returns
// how to undo it.
func (p *play) listen(ctx context.Context) (restore func() error, err error) {
	p.screen.step("Webhooks come here", "Until the end of the play. Each one is checked with the keys that the service publishes.")
	before, err := p.caller.get(ctx, "/config")
	if err != nil {
		return nil, err
	}
	p.screen.fields(before, "id", "umaDomain", "webhookEndpoint")
	if p.platform, err = ident.ParsePlatform(before.text("id")); err != nil {
		return nil, fmt.Errorf("GET /config answered the id %q: %w", before.text("id"), err)
	}
	keys, err := p.caller.get(ctx, "/webhook-keys")
	if err != nil {
		return nil, err
	}
	p.screen.list(keys, "data", "algorithm", "id")
	if p.hooks, err = receive(keys); err != nil {
		return nil, err
	}
	after, err := p.caller.patch(ctx, "/config", object{{"webhookEndpoint", p.hooks.url}})
	if err != nil {
		p.hooks.close()
		return nil, err
	}
	p.screen.fields(after, "webhookEndpoint")
	restore = func() error { return p.giveBack(context.WithoutCancel(ctx), before.text("webhookEndpoint")) }
	switch _, err := p.await(ctx, "TEST", p.patienceForTest); {
	case errors.Is(err, errNoWebhook):
		p.screen.say(inset, "No TEST came. It is sent once only and can be lost; those of the payment are sent until they arrive.")
	case err != nil:
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

// giveBack sends the platform's webhooks where they went before. A play that was
// killed may have left its own address behind; nobody listens there any more.
func (p *play) giveBack(ctx context.Context, endpoint string) error {
	defer p.hooks.close()
	if strings.Contains(endpoint, demoPath) {
		endpoint = ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := p.caller.quietly().patch(ctx, "/config", object{{"webhookEndpoint", endpoint}}); err != nil {
		return fmt.Errorf("the platform's webhookEndpoint could not be set back to %q: %w", endpoint, err)
	}
	return nil
}

var errNoWebhook = errors.New("the server must run its workers, and on this machine")

// await shows webhooks as they come, up to the one with this name.
func (p *play) await(ctx context.Context, name string, patience time.Duration) (webhook, error) {
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	for {
		select {
		case <-ctx.Done():
			return webhook{}, context.Cause(ctx)
		case <-tooLong.C:
			return webhook{}, fmt.Errorf("no webhook %s came within %s; %w", name, patience, errNoWebhook)
		case w := <-p.hooks.came:
			if w.err != nil {
				return w, w.err
			}
			p.screen.webhook(w)
			if w.event == name {
				return w, nil
			}
			if strings.HasSuffix(w.event, ".FAILED") || strings.HasSuffix(w.event, ".EXPIRED") {
				return w, fmt.Errorf("the payment ended as %s instead of %s", w.event, name)
			}
		}
	}
}

func (p *play) createCustomer(ctx context.Context) error {
	p.screen.step("A customer", "A person who will pay. In the sandbox, individuals are approved at once.")
	created, err := p.caller.post(ctx, "/customers", object{
		{"platformCustomerId", "demo-" + uuid.NewString()[:8]},
		{"customerType", "INDIVIDUAL"},
		{"fullName", "Ada Lovelace"},
		{"birthDate", "1990-12-10"},
		{"nationality", "US"},
		{"address", object{{"line1", "12 Analytical Way"}, {"city", "Austin"}, {"state", "TX"}, {"postalCode", "78701"}, {"country", "US"}}},
	})
	if err != nil {
		return err
	}
	p.screen.fields(created, "id", "kycStatus", "umaAddress", "createdAt")
	p.customer, err = created.need("id")
	p.hooks.only(p.customer)
	return err
}

func (p *play) registerWallet(ctx context.Context) error {
	p.screen.step("Her wallet", "Where the bitcoin goes. It is registered once and can be paid to any number of times.")
	registered, err := p.caller.post(ctx, "/customers/external-accounts", object{
		{"customerId", p.customer},
		{"currency", "BTC"},
		{"accountInfo", object{{"accountType", "LAYER2_WALLET"}, {"address", walletAddress()}}},
	})
	if err != nil {
		return err
	}
	p.screen.fields(registered, "id", "status", "currency", "accountInfo.accountType")
	p.account, err = registered.need("id")
	return err
}

// walletAddress is a new one. It ends in a letter, because three digits at the end
// would make something happen in the sandbox.
func walletAddress() string { return "spark1" + strings.ReplaceAll(uuid.NewString(), "-", "") + "w" }

func (p *play) askRates(ctx context.Context) error {
	p.screen.step("What it costs now", "Rates are the smallest receiving units (satoshi) for one smallest sending unit (cent).")
	rates, err := p.caller.get(ctx, "/exchange-rates?sourceCurrency=USD&destinationCurrency=BTC&sendingAmount=10050")
	if err != nil {
		return err
	}
	p.screen.fields(rates, "data.0.exchangeRate", "data.0.sendingAmount@data.0.sourceCurrency.code",
		"data.0.fees.total@data.0.sourceCurrency.code", "data.0.receivingAmount@data.0.destinationCurrency.code",
		"data.0.destinationPaymentRail", "data.0.updatedAt")
	return nil
}

func (p *play) createQuote(ctx context.Context) error {
	p.screen.step("A quote", "It fixes rate and fees for a few minutes, and says how to pay: the reference must stand in the memo.")
	quoted, err := p.caller.post(ctx, "/quotes", object{
		{"source", object{{"customerId", p.customer}, {"currency", "USD"}}},
		{"destination", object{{"destinationType", "ACCOUNT"}, {"accountId", p.account}}},
		{"lockedCurrencySide", "SENDING"},
		{"lockedCurrencyAmount", 10050},
	})
	if err != nil {
		return err
	}
	p.quote = quoted
	const way = "paymentInstructions.0.accountOrWalletInfo."
	p.screen.fields(quoted, "id", "status", "expiresAt", "exchangeRate", "totalSendingAmount@sendingCurrency.code",
		"feesIncluded@sendingCurrency.code", "totalReceivingAmount@receivingCurrency.code", "transactionId",
		way+"accountNumber", way+"routingNumber", way+"reference")
	if p.reference, err = quoted.need(way + "reference"); err != nil {
		return err
	}
	if p.transaction, err = quoted.need("transactionId"); err != nil {
		return err
	}
	_, err = p.await(ctx, "OUTGOING_PAYMENT.PENDING", p.patience)
	return err
}

func (p *play) pay(ctx context.Context) error {
	p.screen.step("The payer pays", "In the sandbox this request is the bank transfer. Conversion and delivery then run by themselves.")
	sent, err := p.caller.post(ctx, "/sandbox/send", object{
		{"reference", p.reference},
		{"currencyCode", p.quote.text("sendingCurrency.code")},
		{"currencyAmount", p.quote.at("totalSendingAmount")},
	})
	if err != nil {
		return err
	}
	p.screen.fields(sent, "id", "status", "type", "quoteId")
	_, err = p.await(ctx, "OUTGOING_PAYMENT.COMPLETED", p.patience)
	return err
}

func (p *play) lookBack(ctx context.Context) error {
	p.screen.step("What became of it", "Asked for, it says the same as its last webhook.")
	found, err := p.caller.get(ctx, "/transactions/"+p.transaction)
	if err != nil {
		return err
	}
	p.screen.fields(found, "id", "status", "sentAmount.amount@sentAmount.currency.code", "fees@sentAmount.currency.code",
		"receivedAmount.amount@receivedAmount.currency.code", "exchangeRate", "settledAt")
	if status := found.text("status"); status != "COMPLETED" {
		return fmt.Errorf("the payment is %s after its COMPLETED webhook", status)
	}
	return nil
}
