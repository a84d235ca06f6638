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

	"causeway/adapters/apiclient"
	"causeway/adapters/cli"
	"causeway/core/ident"
)

// paymentDemo makes one payment, step by step, and shows each.
type paymentDemo struct {
	screen *screen
	client *demoClient
	ledger ledgerReader // nil if the database is unknown
	// The TEST event has a shorter timeout, because it is sent only once.
	webhookTimeout, testEventTimeout time.Duration
	program                          string // how it was called

	receiver      *webhookReceiver
	platform      ident.Platform
	customerID    string
	accountID     string
	quote         apiResponse
	reference     string
	transactionID string // set by createQuote
}

const (
	demoWebhookTimeout   = 15 * time.Second
	demoTestEventTimeout = 2 * time.Second
)

func newPaymentDemo(c cli.Credentials, out io.Writer) *paymentDemo {
	s := newScreen(out)
	return &paymentDemo{screen: s, client: newDemoClient(c, s), webhookTimeout: demoWebhookTimeout, testEventTimeout: demoTestEventTimeout,
		program: os.Args[0]}
}

// run runs all steps. It sets the platform's webhook endpoint to its own, and restores it
// however the demo ends.
func (p *paymentDemo) run(ctx context.Context) (err error) {
	began := time.Now()
	p.screen.writeTitle("Demo: a payment of 100.50 US dollars, paid out in bitcoin",
		"Every request below is made now, to "+p.client.BaseURL)
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
	p.screen.writeEnd(fmt.Sprintf("Done in %s.", time.Since(began).Round(time.Millisecond)),
		fmt.Sprintf("Run it again: %s demo. Check the ledger: %[1]s ledger check.", p.program))
	return p.screen.writeErr
}

// receiveWebhooks makes this program the platform's webhook endpoint, and returns a function
// that restores the previous one.
func (p *paymentDemo) receiveWebhooks(ctx context.Context) (restore func() error, err error) {
	p.screen.beginStep("Receive webhooks", "The demo is the webhook endpoint until it ends. It verifies each webhook with the published keys.")
	before, err := p.client.get(ctx, "/config")
	if err != nil {
		return nil, err
	}
	p.screen.writeFields(before, "id", "umaDomain", "webhookEndpoint")
	if p.platform, err = ident.ParsePlatform(before.text("id")); err != nil {
		return nil, fmt.Errorf("GET /config returned the id %q: %w", before.text("id"), err)
	}
	keys, err := p.client.get(ctx, "/webhook-keys")
	if err != nil {
		return nil, err
	}
	p.screen.writeList(keys, "data", "algorithm", "id")
	if p.receiver, err = newWebhookReceiver(apiclient.NewVerifier(&p.client.Client)); err != nil {
		return nil, err
	}
	after, err := p.client.patch(ctx, "/config", `{"webhookEndpoint":`+quoted(p.receiver.URL)+`}`)
	if err != nil {
		p.receiver.Close()
		return nil, err
	}
	p.screen.writeFields(after, "webhookEndpoint")
	restore = func() error { return p.restoreEndpoint(context.WithoutCancel(ctx), before.text("webhookEndpoint")) }
	switch _, err := p.awaitWebhook(ctx, "TEST", p.testEventTimeout); {
	case errors.Is(err, errNoWebhook):
		p.screen.writeText(margin, "No TEST event was received. It is sent only once; the events of the payment are sent until they are "+
			"accepted. A service that was not started with causeway dev needs --allow-private-webhooks to reach this program.")
	case err != nil:
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

// restoreEndpoint sets the platform's webhook endpoint. An endpoint of an earlier demo that
// was killed is cleared instead, because nothing listens there.
func (p *paymentDemo) restoreEndpoint(ctx context.Context, endpoint string) error {
	defer p.receiver.Close()
	if strings.Contains(endpoint, demoPathPrefix) {
		endpoint = ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := p.client.withoutOutput().patch(ctx, "/config", `{"webhookEndpoint":`+quoted(endpoint)+`}`); err != nil {
		return fmt.Errorf("cannot restore the webhookEndpoint %q: %w", endpoint, err)
	}
	return nil
}

var errNoWebhook = errors.New("the server must run workers and be able to reach this machine")

// awaitWebhook shows webhooks as they are received, up to the one with this name.
func (p *paymentDemo) awaitWebhook(ctx context.Context, name string, limit time.Duration) (receivedWebhook, error) {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for {
		select {
		case <-ctx.Done():
			return receivedWebhook{}, context.Cause(ctx)
		case <-timeout.C:
			return receivedWebhook{}, fmt.Errorf("no webhook %s within %s: %w", name, limit, errNoWebhook)
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
	p.screen.beginStep("Create a customer", "The person who pays. In the sandbox, individuals are approved at once.")
	created, err := p.client.post(ctx, "/customers", `{"platformCustomerId":"demo-`+uuid.NewString()[:8]+`","customerType":"INDIVIDUAL",
		"fullName":"Ada Lovelace","birthDate":"1990-12-10","nationality":"US",
		"address":{"line1":"12 Analytical Way","city":"Austin","state":"TX","postalCode":"78701","country":"US"}}`)
	if err != nil {
		return err
	}
	p.screen.writeFields(created, "id", "kycStatus", "umaAddress", "createdAt")
	p.customerID, err = created.requireText("id")
	p.receiver.setCustomer(p.customerID)
	return err
}

func (p *paymentDemo) registerWallet(ctx context.Context) error {
	p.screen.beginStep("Register a wallet", "The destination of the bitcoin. It can be used for any number of payments.")
	registered, err := p.client.post(ctx, "/customers/external-accounts", `{"customerId":`+quoted(p.customerID)+`,"currency":"BTC",
		"accountInfo":{"accountType":"LAYER2_WALLET","address":`+quoted(walletAddress())+`}}`)
	if err != nil {
		return err
	}
	p.screen.writeFields(registered, "id", "status", "currency", "accountInfo.accountType")
	p.accountID, err = registered.requireText("id")
	return err
}

// walletAddress returns a new address. It ends in a letter, because in the sandbox three
// digits at the end are a test value.
func walletAddress() string { return "spark1" + strings.ReplaceAll(uuid.NewString(), "-", "") + "w" }

func (p *paymentDemo) showRates(ctx context.Context) error {
	p.screen.beginStep("Show the rate", "A rate is the number of satoshi for one cent, the smallest units of the two currencies.")
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
	p.screen.beginStep("Create a quote", "It fixes rate and fees for a few minutes, and returns how to pay: with this reference in the memo.")
	created, err := p.client.post(ctx, "/quotes", `{"source":{"customerId":`+quoted(p.customerID)+`,"currency":"USD"},
		"destination":{"destinationType":"ACCOUNT","accountId":`+quoted(p.accountID)+`},
		"lockedCurrencySide":"SENDING","lockedCurrencyAmount":10050}`)
	if err != nil {
		return err
	}
	p.quote = created
	const account = "paymentInstructions.0.accountOrWalletInfo."
	p.screen.writeFields(created, "id", "status", "expiresAt", "exchangeRate", "totalSendingAmount@sendingCurrency.code",
		"feesIncluded@sendingCurrency.code", "totalReceivingAmount@receivingCurrency.code", "transactionId",
		account+"accountNumber", account+"routingNumber", account+"reference")
	if p.reference, err = created.requireText(account + "reference"); err != nil {
		return err
	}
	if p.transactionID, err = created.requireText("transactionId"); err != nil {
		return err
	}
	_, err = p.awaitWebhook(ctx, "OUTGOING_PAYMENT.PENDING", p.webhookTimeout)
	return err
}

func (p *paymentDemo) payQuote(ctx context.Context) error {
	p.screen.beginStep("Pay the quote", "In the sandbox this request is the bank transfer. Conversion and payout follow by themselves.")
	sent, err := p.client.post(ctx, "/sandbox/send", `{"reference":`+quoted(p.reference)+`,"currencyCode":`+
		quoted(p.quote.text("sendingCurrency.code"))+
		`,"currencyAmount":`+p.quote.text("totalSendingAmount")+`}`)
	if err != nil {
		return err
	}
	p.screen.writeFields(sent, "id", "status", "type", "quoteId")
	_, err = p.awaitWebhook(ctx, "OUTGOING_PAYMENT.COMPLETED", p.webhookTimeout)
	return err
}

func (p *paymentDemo) showTransaction(ctx context.Context) error {
	p.screen.beginStep("Read the transaction", "It has the same state as in the last webhook.")
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
