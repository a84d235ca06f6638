package uma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/uma"
	"causeway/ports"
)

var _ ports.UMAInvoices = (*Provider)(nil)

// requestPath is where other providers ask customers to pay invoices (umad-11).
const requestPath = "/uma/requests"

// invoiceParameter is the parameter of the callback of an invoice, for senders that do not name it in the pay request.
const invoiceParameter = "invoice"

type invoiceRequest struct {
	Invoice string `json:"invoice"`
}

// payURL returns the URL for pay requests to a receiver.
func payURL(on platform.Platform, address string) string {
	return "https://" + on.UMADomain + payPath + strings.ReplaceAll(nameOf(address), "$", "%24")
}

// IssueInvoice implements ports.UMAInvoices.
func (p *Provider) IssueInvoice(ctx context.Context, on platform.Platform, i uma.Invoice) (text string, send bool, err error) {
	if err := p.Settles(on.ID); err != nil {
		return "", false, err
	}
	_, sender := customer.SplitUMAAddress(i.Sender)
	elsewhere := i.Sender != "" && sender != on.UMADomain
	if elsewhere && !p.Policy.Allows(sender) {
		return "", false, fault.New(fault.InvalidReceiver, "Payments with the provider %s are not allowed.", sender)
	}
	ring, err := p.ring(ctx, on.ID)
	if err != nil {
		return "", false, err
	}
	active, _, _ := ring.Active(p.Clock.Now())
	i.Callback = payURL(on, i.Receiver) + "?" + url.Values{invoiceParameter: {i.ID.String()}}.Encode()
	text, err = i.Encode(func(signed string) string { return uma.Sign(active.Signing, signed) })
	if err != nil {
		return "", false, fault.New(fault.QuoteRequestFailed, "No UMA invoice can be made: %s.", err)
	}
	return text, elsewhere && on.Environment == platform.Production, nil
}

const (
	configurationTimeout  = 5 * time.Second
	invoiceRequestTimeout = 8 * time.Second
)

// SendInvoice implements ports.UMAInvoices.
func (p *Provider) SendInvoice(ctx context.Context, k uma.KeptInvoice) error {
	_, domain := customer.SplitUMAAddress(k.Sender)
	if !p.Policy.Allows(domain) {
		return uma.Refuse(uma.CounterpartyNotAllowed, "payments with "+domain+" are not allowed")
	}
	answer, err := p.Client.get(ctx, "https://"+domain+configurationPath, configurationTimeout)
	if err != nil {
		return err
	}
	if err := answer.check("the configuration of " + domain); err != nil {
		return err
	}
	var configuration struct {
		RequestEndpoint string `json:"uma_request_endpoint"`
	}
	if json.Unmarshal(answer.body, &configuration) != nil || configuration.RequestEndpoint == "" {
		return uma.Refuse(uma.InvalidInvoice, "the configuration of "+domain+" names no uma_request_endpoint")
	}
	body, err := json.Marshal(invoiceRequest{k.Text})
	if err != nil {
		return err
	}
	if answer, err = p.Client.post(ctx, configuration.RequestEndpoint, body, invoiceRequestTimeout); err != nil {
		return err
	}
	return answer.check("the answer")
}

// check returns an error for a status that is none of success: a uma.Refusal, unless it may be another one later.
func (r response) check(what string) error {
	if r.status >= 200 && r.status <= 299 {
		return nil
	}
	var refused failure
	_ = json.Unmarshal(r.body, &refused) // without a code, there is the status; its words may name people
	text := fmt.Sprintf("%s has the status %d %.100s", what, r.status, refused.Code)
	switch {
	case r.status == http.StatusRequestTimeout, r.status == http.StatusTooManyRequests,
		r.status >= 500 && r.status != http.StatusNotImplemented,
		uma.Reason(refused.Code) == uma.InvalidSignature, // it may keep the keys before these for an hour
		uma.Reason(refused.Code) == uma.LimitExceeded:
		return errors.New(text)
	}
	return uma.Refuse(uma.InvalidInvoice, text)
}

// CheckInvoice implements ports.UMAInvoices.
func (p *Provider) CheckInvoice(ctx context.Context, on platform.Platform, i uma.SignedInvoice) error {
	if on.Environment != platform.Production {
		return fault.New(fault.NotImplemented, "The sandbox pays only UMA invoices of its own platform.")
	}
	if i.Issuer() == on.UMADomain { // it was looked for among the platform's customers
		return uma.Refuse(uma.UserNotFound, "there is no such receiver")
	}
	if err := p.Settles(on.ID); err != nil {
		return err
	}
	return p.checkInvoice(ctx, on.ID, i)
}

// checkInvoice checks the signature. What it learns of the provider is stored only then. An invoice has no nonce: its id is the key of its
// payment.
func (p *Provider) checkInvoice(ctx context.Context, on ident.Platform, i uma.SignedInvoice) error {
	if !p.Policy.Allows(i.Issuer()) {
		return uma.Refuse(uma.CounterpartyNotAllowed, "payments with "+i.Issuer()+" are not allowed")
	}
	if err := checkURL(i.Callback); err != nil {
		return uma.Refuse(uma.InvalidInvoice, "callback: "+err.Error())
	}
	keys, fetched, err := p.peerKeys(ctx, on, i.Issuer())
	if err == nil {
		err = i.Verify(keys.Signing)
	}
	if err == nil && fetched {
		err = p.Store.SaveUMAPeer(ctx, on, keys)
	}
	return err
}

// request takes an invoice that another provider asks a customer to pay.
func (s *Server) request(ctx context.Context, r *http.Request, on platform.Platform) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var message invoiceRequest
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, uma.Refuse(uma.InvalidInput, "the body must be an object with an invoice")
	}
	text := strings.ToLower(message.Invoice)
	i, err := uma.ParseInvoice(text)
	if err != nil {
		return nil, err
	}
	if _, domain := customer.SplitUMAAddress(i.Sender); domain != on.UMADomain || i.Issuer() == on.UMADomain {
		return nil, uma.Refuse(uma.InvalidInvoice, "the invoice must name a sender of this provider, and a receiver of another one")
	}
	if err := s.Settles(on.ID); err != nil {
		return nil, err
	}
	if err := s.checkInvoice(ctx, on.ID, i); err != nil {
		return nil, err
	}
	return map[string]string{"status": "OK"}, s.Receivers.TakeUMAInvoice(ctx, on, i.Invoice, text)
}

// paidInvoice returns the id of the UMA invoice that a pay request pays, which the request or its URL names; zero for none.
func paidInvoice(r *http.Request, named string) (uuid.UUID, error) {
	inURL := r.URL.Query().Get(invoiceParameter)
	if named == "" {
		named = inURL
	}
	if named == "" {
		return uuid.Nil, nil
	}
	id, err := uuid.Parse(named)
	if err != nil || inURL != "" && inURL != id.String() {
		return uuid.Nil, uma.Refuse(uma.InvalidInvoice, "invoiceUUID must be the id of the UMA invoice of the callback")
	}
	return id, nil
}
