package uma

import (
	"context"
	"encoding/json"
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
func (p *Provider) IssueInvoice(ctx context.Context, on platform.Platform, i uma.Invoice) (string, error) {
	if err := p.Settles(on.ID); err != nil {
		return "", err
	}
	_, sender := customer.SplitUMAAddress(i.Sender)
	elsewhere := i.Sender != "" && sender != on.UMADomain
	if elsewhere && !p.Policy.Allows(sender) {
		return "", fault.New(fault.InvalidReceiver, "Payments with the provider %s are not allowed.", sender)
	}
	ring, err := p.ring(ctx, on.ID)
	if err != nil {
		return "", err
	}
	active, _, _ := ring.Active(p.Clock.Now())
	i.Callback = payURL(on, i.Receiver) + "?" + url.Values{invoiceParameter: {i.ID.String()}}.Encode()
	text, err := i.Encode(func(signed string) string { return uma.Sign(active.Signing, signed) })
	if err != nil {
		return "", fault.New(fault.QuoteRequestFailed, "No UMA invoice can be made: %s.", err)
	}
	if elsewhere && on.Environment == platform.Production {
		err = asFault(p.sendInvoice(ctx, sender, text), fault.PayreqRequestFailed, "The provider "+sender+" does not take the invoice: %s.")
	}
	return text, err
}

const (
	configurationTimeout  = 5 * time.Second
	invoiceRequestTimeout = 8 * time.Second
)

// sendInvoice sends an invoice to the provider of its sender, which asks the sender to pay it.
func (p *Provider) sendInvoice(ctx context.Context, domain, text string) error {
	answer, err := p.Client.get(ctx, "https://"+domain+configurationPath, configurationTimeout)
	if err != nil {
		return err
	}
	var configuration struct {
		RequestEndpoint string `json:"uma_request_endpoint"`
	}
	if answer.status != http.StatusOK || json.Unmarshal(answer.body, &configuration) != nil || configuration.RequestEndpoint == "" {
		return fmt.Errorf("its configuration names no uma_request_endpoint (status %d)", answer.status)
	}
	body, err := json.Marshal(invoiceRequest{text})
	if err != nil {
		return err
	}
	if answer, err = p.Client.post(ctx, configuration.RequestEndpoint, body, invoiceRequestTimeout); err != nil {
		return err
	}
	if answer.status < 200 || answer.status > 299 {
		var refused failure
		_ = json.Unmarshal(answer.body, &refused) // without a reason, there is the status
		return fmt.Errorf("the answer has the status %d %.100s %.300q", answer.status, refused.Code, refused.Reason)
	}
	return nil
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
