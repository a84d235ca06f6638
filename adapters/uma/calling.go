package uma

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/uma"
	"causeway/ports"
)

var _ ports.Counterparties = (*Provider)(nil)

const (
	lookupTimeout = 8 * time.Second
	// payRequestTimeout is longer than another provider waits for the approval of its platform.
	payRequestTimeout = 18 * time.Second
)

// Counterparty asks the provider of an address about its owner.
func (p *Provider) Counterparty(ctx context.Context, payer ports.UMAPayer, address string, _ []string) (ports.Counterparty, bool, error) {
	name, domain := customer.SplitUMAAddress(address)
	if domain == payer.Platform.UMADomain {
		return ports.Counterparty{}, false, nil // it was looked for among the platform's customers
	}
	if err := p.Settles(payer.Platform.ID); err != nil {
		return ports.Counterparty{}, false, err
	}
	if !p.Policy.Allows(domain) {
		return ports.Counterparty{}, false, fault.New(fault.InvalidReceiver, "Payments to the provider %s are not allowed.", domain)
	}
	target, err := p.lookupURL(ctx, payer, name, domain)
	if err != nil {
		return ports.Counterparty{}, false, err
	}
	answer, err := p.Client.get(ctx, target, lookupTimeout)
	if err != nil {
		return ports.Counterparty{}, false, lookupFailed(domain, err)
	}
	switch answer.status {
	case 200:
	case 404:
		return ports.Counterparty{}, false, nil
	case 412:
		var refused failure
		if json.Unmarshal(answer.body, &refused) == nil && uma.SharesVersion(refused.SupportedMajorVersions) {
			return ports.Counterparty{}, false, lookupFailed(domain, errors.New("it refuses the version "+uma.Version+", which it says it supports"))
		}
		return ports.Counterparty{}, false, fault.New(fault.NoCompatibleUMAVersion, "The provider %s speaks no version of UMA that this service "+
			"speaks: %v.", domain, refused.SupportedMajorVersions)
	default:
		return ports.Counterparty{}, false, lookupFailed(domain, fmt.Errorf("the answer has the status %d", answer.status))
	}
	var found lnurlResponse
	if err := json.Unmarshal(answer.body, &found); err != nil {
		return ports.Counterparty{}, false, lookupFailed(domain, err)
	}
	counterparty, err := p.checkLookup(ctx, payer, address, domain, found)
	return counterparty, err == nil, lookupFailed(domain, err)
}

// lookupURL returns the signed URL that asks about a person.
func (p *Provider) lookupURL(ctx context.Context, payer ports.UMAPayer, name, domain string) (string, error) {
	signed, err := p.sign(ctx, payer.Platform.ID, name+"@"+domain)
	if err != nil {
		return "", err
	}
	query := url.Values{"signature": {signed.text}, "nonce": {signed.Nonce}, "timestamp": {strconv.FormatInt(signed.Seconds, 10)},
		"vaspDomain": {payer.Platform.UMADomain}, "umaVersion": {uma.Version},
		"isSubjectToTravelRule": {strconv.FormatBool(payer.Platform.Regulated)}}
	target := url.URL{Scheme: "https", Host: domain, Path: lookupPath + name, RawQuery: query.Encode()}
	return target.String(), nil
}

// checkLookup returns the person whom a signed answer is about.
func (p *Provider) checkLookup(ctx context.Context, payer ports.UMAPayer, address, domain string, found lnurlResponse) (
	ports.Counterparty, error) {
	c := found.Compliance
	switch {
	case c == nil || found.UMAVersion == "":
		return ports.Counterparty{}, errors.New("it takes Lightning payments, but not those of UMA")
	case !uma.SupportsVersion(found.UMAVersion):
		return ports.Counterparty{}, fault.New(fault.NoCompatibleUMAVersion, "The provider %s answers in version %.20s of UMA, which this "+
			"service does not speak.", domain, found.UMAVersion)
	case c.ReceiverIdentifier != address:
		return ports.Counterparty{}, errors.New("the answer is about another address")
	}
	if err := checkURL(found.Callback); err != nil {
		return ports.Counterparty{}, fmt.Errorf("callback: %w", err)
	}
	signed := signature{uma.Stamp{Nonce: c.Nonce, Seconds: c.Timestamp}, c.Signature}
	if _, err := p.verify(ctx, payer.Platform.ID, domain, signed, address); err != nil {
		return ports.Counterparty{}, err
	}
	receiver := uma.Receiver{Callback: found.Callback, TravelRule: c.IsSubjectToTravelRule, Wanted: found.PayerData.facts()}
	counterparty := ports.Counterparty{Address: address, WantedFields: receiver.Wanted, UMA: &receiver}
	for _, option := range found.Currencies {
		currency := option.currency()
		if currency.Usable() && !slices.Contains(counterparty.Currencies, currency.Code) {
			receiver.Currencies = append(receiver.Currencies, currency)
			counterparty.Currencies = append(counterparty.Currencies, currency.Code)
		}
	}
	return counterparty, nil
}

// lookupFailed returns the fault for a lookup that failed because of the other provider; nil for nil. Errors of this service stay.
func lookupFailed(domain string, err error) error {
	return asFault(err, fault.LnurlpRequestFailed, "The provider "+domain+" cannot be asked about the receiver: %s.")
}

// asFault returns err if it is a fault or an error of the storage, and else a fault with its text.
func asFault(err error, code fault.Code, format string) error {
	if _, is := fault.As(err); err == nil || is || errors.Is(err, ports.ErrStoreUnavailable) {
		return err
	}
	if refused, is := errors.AsType[*uma.Refusal](err); is && (refused.Reason == uma.PubkeyFetchFailed ||
		refused.Reason == uma.CertChainExpired) {
		code = fault.CounterpartyPubkeyFetchError
	}
	return fault.New(code, format, err)
}

// RequestInvoice implements ports.Counterparties.
func (p *Provider) RequestInvoice(ctx context.Context, request ports.PayRequest) (ports.PayAnswer, error) {
	_, domain := customer.SplitUMAAddress(request.Receiver)
	if !p.Policy.Allows(domain) {
		return ports.PayAnswer{}, fault.New(fault.InvalidReceiver, "Payments to the provider %s are not allowed.", domain)
	}
	answer, err := p.requestInvoice(ctx, request, domain)
	return answer, asFault(err, fault.PayreqRequestFailed, "The provider "+domain+" gives no invoice: %s.")
}

func (p *Provider) requestInvoice(ctx context.Context, request ports.PayRequest, domain string) (ports.PayAnswer, error) {
	body, err := p.payRequest(ctx, request, domain)
	if err != nil {
		return ports.PayAnswer{}, err
	}
	received, err := p.Client.post(ctx, request.To.Callback, body, payRequestTimeout)
	if err != nil {
		return ports.PayAnswer{}, err
	}
	if received.status != 200 {
		var refused failure
		_ = json.Unmarshal(received.body, &refused) // without a reason, there is the status
		return ports.PayAnswer{}, fmt.Errorf("the answer has the status %d %.100s %.300q", received.status, refused.Code, refused.Reason)
	}
	var response payResponse
	if err := json.Unmarshal(received.body, &response); err != nil {
		return ports.PayAnswer{}, err
	}
	payee, err := decodePersonData[payeeCompliance](response.PayeeData)
	if err != nil {
		return ports.PayAnswer{}, fmt.Errorf("payeeData %w", err)
	}
	if payee.identifier != request.Receiver {
		return ports.PayAnswer{}, errors.New("the answer is about another receiver")
	}
	c := payee.compliance
	signed := signature{uma.Stamp{Nonce: c.SignatureNonce, Seconds: c.SignatureTimestamp}, c.Signature}
	if _, err := p.verify(ctx, request.Payer.Platform.ID, domain, signed, request.Payer.Address, request.Receiver); err != nil {
		return ports.PayAnswer{}, err
	}
	answer, err := response.answer()
	if err != nil {
		return ports.PayAnswer{}, err
	}
	answer.Callback = knownCallback(c.UTXOCallback)
	if err := request.Ask.Check(answer, p.Clock.Now()); err != nil {
		return ports.PayAnswer{}, err
	}
	if err := request.To.CheckRate(answer); err != nil {
		return ports.PayAnswer{}, err
	}
	return ports.PayAnswer{Answer: answer, Facts: payee.facts}, nil
}

// payRequest returns the signed body of a pay request.
func (p *Provider) payRequest(ctx context.Context, request ports.PayRequest, domain string) ([]byte, error) {
	on := request.Payer.Platform
	signed, err := p.sign(ctx, on.ID, request.Payer.Address)
	if err != nil {
		return nil, err
	}
	payer := personData[payerCompliance]{identifier: request.Payer.Address, facts: request.Facts, compliance: &payerCompliance{
		KYCStatus: "VERIFIED", UTXOs: []string{}, UTXOCallback: callbackURL(on, request.Transaction),
		Signature: signed.text, SignatureNonce: signed.Nonce, SignatureTimestamp: signed.Seconds}}
	if len(request.TravelRule) > 0 {
		keys, _, err := p.peerKeys(ctx, on.ID, domain)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(map[string]any{"originator": request.TravelRule, "beneficiary": map[string]string{
			"ACCOUNT_IDENTIFIER": request.Receiver}})
		if err != nil {
			return nil, err
		}
		if payer.compliance.EncryptedTravelRuleInfo, err = encrypt(keys, text); err != nil {
			return nil, err
		}
	}
	message := newPayRequest(request.Ask)
	if request.Invoice != uuid.Nil {
		message.Invoice = request.Invoice.String()
	}
	if message.PayerData, err = payer.encode(); err != nil {
		return nil, err
	}
	message.PayeeData = newFieldOptions(request.Wanted)
	return json.Marshal(message)
}

// Sender implements ports.Counterparties: who sends is in the pay request.
func (p *Provider) Sender(context.Context, string, []string) (ports.Counterparty, error) {
	return ports.Counterparty{}, fault.New(fault.NotImplemented, "Payments of other providers are not simulated on production platforms.")
}

// maxPeers is how many providers are listed.
const maxPeers = 1000

// Providers returns the providers that are allowed or blocked by name, and those that payments were looked up or exchanged with.
func (p *Provider) Providers(ctx context.Context, platform ident.Platform) ([]ports.Provider, error) {
	domains, err := p.Store.UMAPeers(ctx, platform, maxPeers)
	if err != nil {
		return nil, err
	}
	domains = slices.Concat(domains, p.Policy.Allowed, p.Policy.Blocked)
	slices.Sort(domains)
	domains = slices.Compact(domains)
	providers := make([]ports.Provider, len(domains))
	for i, domain := range domains {
		providers[i] = ports.Provider{Name: domain, Domain: domain, Allowed: p.Policy.Allows(domain)}
	}
	return providers, nil
}
