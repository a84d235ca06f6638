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

// paymentDemo is one payment on its way: what it talks to, and what it learnt so far.
type paymentDemo struct {
	screen *screen
	client *demoClient
	ledger ports.LedgerReader // nil: they cannot be seen from here
	// webhookTimeout is how long a webhook may take, the TEST event a little less: it is
	// sent only once.
	webhookTimeout, testEventTimeout time.Duration
	// program is how it was called.
	program string

	receiver   *webhookReceiver
	platform   ident.Platform
	customerID string
	accountID  string
	quote      apiResponse
	reference  string
	// transactionID is the payment's, once it has a quote.
	transactionID string
}

const (
	demoWebhookTimeout   = 15 * time.Second
	demoTestEventTimeout = 2 * time.Second
)

func newPaymentDemo(mine credentials, out io.Writer) *paymentDemo {
	s := newScreen(out)
	return &paymentDemo{screen: s, client: newDemoClient(mine, s), webhookTimeout: demoWebhookTimeout, testEventTimeout: demoTestEventTimeout, program: os.Args[0]}
}

// run plays from beginning to end. Where the platform's webhooks went before, they
// go again afterwards, however the play ends.
func (p *paymentDemo) run(ctx context.Context) (err error) {
	began := time.Now()
	p.screen.writeTitle("A payment, played: 100.50 US dollars in, bitcoin out",
		"Everything below happens now, on "+p.client.baseURL)
	restore, err := p.receiveWebhooks(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	for _, step := range []func(context.Context) error{
		p.createCustomer, p.registerWallet, p.showRates, p.createQuote, p.payQuote, p.showTransaction, p.showEntries, p.showBalances,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	p.screen.writeEnd(fmt.Sprintf("Played in %s.", time.Since(began).Round(time.Millisecond)),
		fmt.Sprintf("Play it again with: %s demo. Prove the books with: %[1]s ledger check.", p.program))
	return p.screen.writeErr
}

// receiveWebhooks makes this program the place where the platform's webhooks go, and returns
// how to undo it.
func (p *paymentDemo) receiveWebhooks(ctx context.Context) (restore func() error, err error) {
	p.screen.beginStep("Webhooks come here", "Until the end of the play. Each one is checked with the keys that the service publishes.")
	before, err := p.client.get(ctx, "/config")
	if err != nil {
		return nil, err
	}
	p.screen.writeFields(before, "id", "umaDomain", "webhookEndpoint")
	if p.platform, err = ident.ParsePlatform(before.text("id")); err != nil {
		return nil, fmt.Errorf("GET /config answered the id %q: %w", before.text("id"), err)
	}
	keys, err := p.client.get(ctx, "/webhook-keys")
	if err != nil {
		return nil, err
	}
	p.screen.writeList(keys, "data", "algorithm", "id")
	if p.receiver, err = newWebhookReceiver(keys); err != nil {
		return nil, err
	}
	after, err := p.client.patch(ctx, "/config", jsonObject{{"webhookEndpoint", p.receiver.url}})
	if err != nil {
		p.receiver.close()
		return nil, err
	}
	p.screen.writeFields(after, "webhookEndpoint")
	restore = func() error { return p.restoreEndpoint(context.WithoutCancel(ctx), before.text("webhookEndpoint")) }
	switch _, err := p.awaitWebhook(ctx, "TEST", p.testEventTimeout); {
	case errors.Is(err, errNoWebhook):
		p.screen.writeText(margin, "No TEST came. It is sent once only and can be lost; those of the payment are sent until they arrive.")
	case err != nil:
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

// restoreEndpoint sends the platform's webhooks where they went before. A play that was
// killed may have left its own address behind; nobody listens there any more.
func (p *paymentDemo) restoreEndpoint(ctx context.Context, endpoint string) error {
	defer p.receiver.close()
	if strings.Contains(endpoint, demoPathPrefix) {
		endpoint = ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := p.client.withoutOutput().patch(ctx, "/config", jsonObject{{"webhookEndpoint", endpoint}}); err != nil {
		return fmt.Errorf("the platform's webhookEndpoint could not be set back to %q: %w", endpoint, err)
	}
	return nil
}

var errNoWebhook = errors.New("the server must run its workers, and on this machine")

// awaitWebhook shows webhooks as they come, up to the one with this name.
func (p *paymentDemo) awaitWebhook(ctx context.Context, name string, patience time.Duration) (receivedWebhook, error) {
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	for {
		select {
		case <-ctx.Done():
			return receivedWebhook{}, context.Cause(ctx)
		case <-tooLong.C:
			return receivedWebhook{}, fmt.Errorf("no webhook %s came within %s; %w", name, patience, errNoWebhook)
		case w := <-p.receiver.webhooks:
			if w.err != nil {
				return w, w.err
			}
			p.screen.writeWebhook(w)
			if w.event == name {
				return w, nil
			}
			if strings.HasSuffix(w.event, ".FAILED") || strings.HasSuffix(w.event, ".EXPIRED") {
				return w, fmt.Errorf("the payment ended as %s instead of %s", w.event, name)
			}
		}
	}
}

func (p *paymentDemo) createCustomer(ctx context.Context) error {
	p.screen.beginStep("A customer", "A person who will pay. In the sandbox, individuals are approved at once.")
	created, err := p.client.post(ctx, "/customers", jsonObject{
		{"platformCustomerId", "demo-" + uuid.NewString()[:8]},
		{"customerType", "INDIVIDUAL"},
		{"fullName", "Ada Lovelace"},
		{"birthDate", "1990-12-10"},
		{"nationality", "US"},
		{"address", jsonObject{{"line1", "12 Analytical Way"}, {"city", "Austin"}, {"state", "TX"}, {"postalCode", "78701"}, {"country", "US"}}},
	})
	if err != nil {
		return err
	}
	p.screen.writeFields(created, "id", "kycStatus", "umaAddress", "createdAt")
	p.customerID, err = created.requireText("id")
	p.receiver.setCustomer(p.customerID)
	return err
}

func (p *paymentDemo) registerWallet(ctx context.Context) error {
	p.screen.beginStep("Her wallet", "Where the bitcoin goes. It is registered once and can be paid to any number of times.")
	registered, err := p.client.post(ctx, "/customers/external-accounts", jsonObject{
		{"customerId", p.customerID},
		{"currency", "BTC"},
		{"accountInfo", jsonObject{{"accountType", "LAYER2_WALLET"}, {"address", walletAddress()}}},
	})
	if err != nil {
		return err
	}
	p.screen.writeFields(registered, "id", "status", "currency", "accountInfo.accountType")
	p.accountID, err = registered.requireText("id")
	return err
}

// walletAddress is a new one. It ends in a letter, because three digits at the end
// would make something happen in the sandbox.
func walletAddress() string { return "spark1" + strings.ReplaceAll(uuid.NewString(), "-", "") + "w" }

func (p *paymentDemo) showRates(ctx context.Context) error {
	p.screen.beginStep("What it costs now", "Rates are the smallest receiving units (satoshi) for one smallest sending unit (cent).")
	rates, err := p.client.get(ctx, "/exchange-rates?sourceCurrency=USD&destinationCurrency=BTC&sendingAmount=10050")
	if err != nil {
		return err
	}
	p.screen.writeFields(rates, "data.0.exchangeRate", "data.0.sendingAmount@data.0.sourceCurrency.code",
		"data.0.fees.total@data.0.sourceCurrency.code", "data.0.receivingAmount@data.0.destinationCurrency.code",
		"data.0.destinationPaymentRail", "data.0.updatedAt")
	return nil
}

func (p *paymentDemo) createQuote(ctx context.Context) error {
	p.screen.beginStep("A quote", "It fixes rate and fees for a few minutes, and says how to pay: the reference must stand in the memo.")
	quoted, err := p.client.post(ctx, "/quotes", jsonObject{
		{"source", jsonObject{{"customerId", p.customerID}, {"currency", "USD"}}},
		{"destination", jsonObject{{"destinationType", "ACCOUNT"}, {"accountId", p.accountID}}},
		{"lockedCurrencySide", "SENDING"},
		{"lockedCurrencyAmount", 10050},
	})
	if err != nil {
		return err
	}
	p.quote = quoted
	const way = "paymentInstructions.0.accountOrWalletInfo."
	p.screen.writeFields(quoted, "id", "status", "expiresAt", "exchangeRate", "totalSendingAmount@sendingCurrency.code",
		"feesIncluded@sendingCurrency.code", "totalReceivingAmount@receivingCurrency.code", "transactionId",
		way+"accountNumber", way+"routingNumber", way+"reference")
	if p.reference, err = quoted.requireText(way + "reference"); err != nil {
		return err
	}
	if p.transactionID, err = quoted.requireText("transactionId"); err != nil {
		return err
	}
	_, err = p.awaitWebhook(ctx, "OUTGOING_PAYMENT.PENDING", p.webhookTimeout)
	return err
}

func (p *paymentDemo) payQuote(ctx context.Context) error {
	p.screen.beginStep("The payer pays", "In the sandbox this request is the bank transfer. Conversion and delivery then run by themselves.")
	sent, err := p.client.post(ctx, "/sandbox/send", jsonObject{
		{"reference", p.reference},
		{"currencyCode", p.quote.text("sendingCurrency.code")},
		{"currencyAmount", p.quote.value("totalSendingAmount")},
	})
	if err != nil {
		return err
	}
	p.screen.writeFields(sent, "id", "status", "type", "quoteId")
	_, err = p.awaitWebhook(ctx, "OUTGOING_PAYMENT.COMPLETED", p.webhookTimeout)
	return err
}

func (p *paymentDemo) showTransaction(ctx context.Context) error {
	p.screen.beginStep("What became of it", "Asked for, it says the same as its last webhook.")
	found, err := p.client.get(ctx, "/transactions/"+p.transactionID)
	if err != nil {
		return err
	}
	p.screen.writeFields(found, "id", "status", "sentAmount.amount@sentAmount.currency.code", "fees@sentAmount.currency.code",
		"receivedAmount.amount@receivedAmount.currency.code", "exchangeRate", "settledAt")
	if status := found.text("status"); status != "COMPLETED" {
		return fmt.Errorf("the payment is %s after its COMPLETED webhook", status)
	}
	return nil
}
