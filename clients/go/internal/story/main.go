// Command story does what a platform does with the client, against a running service. e2e/clients_test.go starts it, and
// checks what it prints and what the service has recorded.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/oapi-codegen/runtime/types"

	causeway "causeway/clients/go"
	"causeway/clients/go/api"
)

// given is what the test has prepared.
type given struct {
	BaseURL, BreakingURL, ClientID, ClientSecret, Customer, Source, Bank, Wallet string

	Webhook struct {
		Headers map[string]string
		Body    []byte
		Secret  string
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var g given
	check(json.Unmarshal([]byte(os.Getenv("GIVEN")), &g))
	client, err := causeway.New(causeway.Config{BaseURL: g.BaseURL, ClientID: g.ClientID, ClientSecret: g.ClientSecret})
	check(err)
	breaking, err := causeway.New(causeway.Config{BaseURL: g.BreakingURL, ClientID: g.ClientID, ClientSecret: g.ClientSecret})
	check(err)

	customers := listCustomers(ctx, client)
	quote := pay(ctx, client, g)
	// The first response to this request is lost.
	transfer, err := breaking.CreateTransferOutWithResponse(ctx, nil, api.TransferOutRequest{
		Source: api.InternalAccountReference{AccountID: g.Source}, Destination: api.TransferOutDestination{AccountID: g.Bank}, Amount: 1000})
	check(err)
	refused := refusal(ctx, client, g)
	event := verify(ctx, client, g)

	var fields []string
	for _, field := range refused.Fields {
		fields = append(fields, field.Field)
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"customers": customers, "quoteId": quote.ID, "rate": quote.ExchangeRate.String(),
		"transactionId": quote.TransactionID, "transferId": transfer.JSON201.ID, "webhookId": event.WebhookID,
		"error": map[string]any{"status": refused.Status, "code": refused.Code, "requestId": refused.RequestID, "fields": fields}}))
}

// listCustomers creates three customers, and lists them on two pages.
func listCustomers(ctx context.Context, client *causeway.Client) (names []string) {
	for _, name := range []string{"Ada Lovelace", "Mia Lind", "Ana Lima"} {
		id, born, country, state := "story-"+name, types.Date{Time: time.Date(1990, 12, 10, 0, 0, 0, 0, time.UTC)}, "US", "TX"
		_, err := client.CreateCustomerWithResponse(ctx, nil, api.CustomerCreateRequest{
			CustomerType: api.CustomerCreateRequestCustomerTypeINDIVIDUAL, PlatformCustomerID: &id, FullName: &name, BirthDate: &born,
			Nationality: &country,
			Address:     &api.Address{Line1: "12 Analytical Way", City: "Austin", State: &state, PostalCode: "78701", Country: country}})
		check(err)
	}
	limit := int64(2)
	for customer, err := range causeway.All(func(cursor *string) ([]api.Customer, *string, error) {
		page, err := client.ListCustomersWithResponse(ctx, &api.ListCustomersParams{Limit: &limit, Cursor: cursor})
		if err != nil {
			return nil, nil, err
		}
		return page.JSON200.Data, page.JSON200.NextCursor, nil
	}) {
		check(err)
		if name, ok := strings.CutPrefix(customer.PlatformCustomerID, "story-"); ok {
			names = append(names, name)
		}
	}
	return names
}

func pay(ctx context.Context, client *causeway.Client, g given) *api.Quote {
	request := api.QuoteRequest{LockedCurrencySide: api.QuoteRequestLockedCurrencySideSENDING, LockedCurrencyAmount: 2500}
	check(request.Source.FromAccountQuoteSource(api.AccountQuoteSource{AccountID: g.Source}))
	check(request.Destination.FromAccountDestination(api.AccountDestination{AccountID: g.Wallet}))
	created, err := client.CreateQuoteWithResponse(ctx, nil, request)
	check(err)
	_, err = client.ExecuteQuoteWithResponse(ctx, created.JSON201.ID, nil, api.ExecuteQuoteJSONRequestBody{})
	check(err)
	return created.JSON201
}

func refusal(ctx context.Context, client *causeway.Client, g given) *causeway.Error {
	_, err := client.CreateCustomerExternalAccountWithBodyWithResponse(ctx, nil, "application/json",
		strings.NewReader(`{"customerId": "`+g.Customer+`", "currency": "USD"}`))
	var refused *causeway.Error
	if !errors.As(err, &refused) || refused.Retryable {
		log.Fatalf("the request was not refused: %v", err)
	}
	return refused
}

// verify verifies a webhook that was received before, with all signatures, and refuses what is not genuine.
func verify(ctx context.Context, client *causeway.Client, g given) *causeway.Event {
	header := func(change map[string]string) http.Header {
		h := http.Header{}
		given := maps.Clone(g.Webhook.Headers)
		maps.Copy(given, change)
		for name, value := range given {
			if value != "" {
				h.Set(name, value)
			}
		}
		return h
	}
	all := header(nil)
	ed25519 := header(map[string]string{"webhook-signature": regexp.MustCompile(`v1,\S+`).ReplaceAllString(all.Get("webhook-signature"), "")})
	service := header(map[string]string{"webhook-signature": ""})
	other := header(map[string]string{"webhook-id": "Webhook:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"})
	body, changed := g.Webhook.Body, bytes.Clone(g.Webhook.Body)
	changed[len(changed)-2] ^= 1

	otherSecret := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	secret, err := causeway.NewVerifier(otherSecret, g.Webhook.Secret)
	check(err)
	wrong, err := causeway.NewVerifier(otherSecret)
	check(err)
	keys := client.NewKeyVerifier()
	later := func(v *causeway.Verifier) *causeway.Verifier {
		v.Now = func() time.Time { return time.Now().Add(301 * time.Second) }
		return v
	}
	lateSecret, err := causeway.NewVerifier(g.Webhook.Secret)
	check(err)

	event, err := secret.Verify(ctx, all, body)
	check(err)
	var decoded api.TestWebhook
	check(event.Decode(&decoded))
	if decoded.WebhookID != event.WebhookID || event.Type != "TEST" {
		log.Fatalf("the event is %+v", event)
	}
	for _, genuine := range []http.Header{all, ed25519, service} {
		_, err := keys.Verify(ctx, genuine, body)
		check(err)
	}
	for i, c := range []struct {
		verifier *causeway.Verifier
		header   http.Header
		body     []byte
	}{
		{secret, all, changed}, {secret, other, body}, {secret, ed25519, body}, {secret, service, body}, {wrong, all, body},
		{later(lateSecret), all, body}, {keys, all, changed}, {keys, service, changed}, {keys, other, body},
		{later(client.NewKeyVerifier()), all, body}, {keys, http.Header{}, body},
		{keys, header(map[string]string{"webhook-signature": "", "service-webhook-signature": `{"v":"2","s":"AAAA"}`}), body},
	} {
		if _, err := c.verifier.Verify(ctx, c.header, c.body); !errors.Is(err, causeway.ErrNotGenuine) {
			log.Fatalf("webhook %d was not refused: %v", i, err)
		}
	}
	return event
}

func check(err error) {
	if err != nil {
		log.Fatal(fmt.Errorf("story: %w", err))
	}
}
