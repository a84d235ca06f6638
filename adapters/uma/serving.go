package uma

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/payments"
	"causeway/app/receivers"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// The paths at a platform's UMA domain.
const (
	keyPath           = "/.well-known/lnurlpubkey"
	configurationPath = "/.well-known/uma-configuration"
	lookupPath        = "/.well-known/lnurlp/"
	payPath           = "/uma/payreq/"
	utxoPath          = "/uma/utxos/"  // and the id of a payment
	walletPath        = "/uma/lnurlp/" // and the name of a receiver
)

// Receivers finds customers as receivers.
type Receivers interface {
	UMAReceiver(ctx context.Context, on platform.Platform, address string) (receivers.UMAReceiver, error)
	LightningReceiver(ctx context.Context, on platform.Platform, address string) (receivers.UMAReceiver, error)
	TakeUMAInvoice(ctx context.Context, on platform.Platform, i uma.Invoice, text string) error
}

// Payments takes the payments of other providers.
type Payments interface {
	InvoiceUMAPayment(ctx context.Context, on platform.Platform, in payments.UMAPayRequest) (payments.UMAInvoice, error)
	TakeUMAChannels(ctx context.Context, on platform.Platform, id ident.Transaction, domain string, channels []uma.ChannelUse) error
}

// Server answers the requests of other providers.
type Server struct {
	*Provider
	Receivers Receivers
	Payments  Payments
}

// requestTimeout is longer than a platform takes to approve a payment.
const requestTimeout = 25 * time.Second

// Register adds the paths. limit limits the requests of providers, and limitWallets those of anybody that are payments.
func (s *Server) Register(mount func(method, pattern string, h http.Handler), limit, limitWallets func(http.Handler) http.Handler) {
	handle := func(method, pattern string, answer func(context.Context, *http.Request, platform.Platform) (any, error)) {
		mount(method, pattern, limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, answer) })))
	}
	handle(http.MethodGet, keyPath, s.publicKeys)
	handle(http.MethodGet, configurationPath, s.configuration)
	handle(http.MethodGet, lookupPath+"{name}", s.lookup)
	handle(http.MethodPost, payPath+"{name}", s.pay)
	handle(http.MethodPost, utxoPath+"{id}", s.channels)
	handle(http.MethodPost, requestPath, s.request)
	mount(http.MethodGet, walletPath+"{name}", limitWallets(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, s.payByWallet)
	})))
}

// serve answers a request to the platform whose domain is its host.
func (s *Server) serve(w http.ResponseWriter, r *http.Request,
	answer func(context.Context, *http.Request, platform.Platform) (any, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	domain := strings.ToLower(r.Host)
	if host, _, err := net.SplitHostPort(domain); err == nil {
		domain = host
	}
	domain = strings.TrimSuffix(domain, ".") // of a full name
	on, found, err := s.Store.UMAPlatform(ports.ForAllPlatforms(ctx), domain)
	if err == nil && !found {
		err = uma.Refuse(uma.UserNotFound, "there is no UMA provider at this host")
	}
	var body any
	if err == nil {
		body, err = answer(ports.ForPlatform(ctx, on.ID), r, on)
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	writeJSON(w, http.StatusOK, body)
}

// refuse answers with what is wrong. What is not the caller's fault is logged.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	refused := failure{Status: "ERROR", Reason: "The request failed; try again.", Code: string(uma.InternalError)}
	status := http.StatusInternalServerError
	if refusal, is := errors.AsType[*uma.Refusal](err); is {
		status, refused.Reason, refused.Code = refusal.Reason.HTTPStatus(), refusal.Message, string(refusal.Reason)
		if refusal.Reason == uma.UnsupportedVersion {
			refused.SupportedMajorVersions = uma.MajorVersions()
		}
	} else if fault.Is(err, fault.NotImplemented) {
		status, refused.Reason = http.StatusNotImplemented, "This provider takes no payments: it has no Lightning node."
	} else if f, is := fault.As(err); is && !f.Code.Temporary() {
		status, refused.Reason, refused.Code = http.StatusFailedDependency, "The receiver takes no payments now.", string(uma.PayRequestFailed)
		s.Log.WithError(err).Warn("a request of a UMA provider is refused")
	} else {
		s.Log.WithError(err).Error("a request of a UMA provider failed")
	}
	writeJSON(w, status, refused)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Access-Control-Allow-Origin", "*") // wallets in browsers; nothing here is about who is signed in
	w.WriteHeader(status)
	_, _ = w.Write(text) // the caller has gone
}

// publicKeys answers with the keys that are active.
func (s *Server) publicKeys(ctx context.Context, _ *http.Request, on platform.Platform) (any, error) {
	ring, err := s.ring(ctx, on.ID)
	if err != nil {
		return nil, err
	}
	now := s.Clock.Now()
	active, until, _ := ring.Active(now)
	signing, encryption := uma.PublicKey(active.Signing), uma.PublicKey(active.Encryption)
	answer := map[string]any{"signingPubKey": hex.EncodeToString(signing), "encryptionPubKey": hex.EncodeToString(encryption),
		"expirationTimestamp": until.Unix()}
	for name, key := range map[string][]byte{"signingCertChain": signing, "encryptionCertChain": encryption} {
		if chain := s.chainOf(key, now); chain != nil {
			answer[name] = chain
		}
	}
	return answer, nil
}

// configuration answers with the versions.
func (s *Server) configuration(_ context.Context, _ *http.Request, on platform.Platform) (any, error) {
	return map[string]any{"uma_major_versions": uma.MajorVersions(), "name": on.Name,
		"uma_request_endpoint": "https://" + on.UMADomain + requestPath}, nil
}

// receiver returns the receiver that a path names.
func (s *Server) receiver(ctx context.Context, r *http.Request, on platform.Platform, prefix string) (receivers.UMAReceiver, error) {
	name, err := pathName(r, prefix)
	if err != nil {
		return receivers.UMAReceiver{}, err
	}
	return s.Receivers.UMAReceiver(ctx, on, name+"@"+on.UMADomain)
}

// lookup answers what another provider, which signs the question, asks about a receiver.
func (s *Server) lookup(ctx context.Context, r *http.Request, on platform.Platform) (any, error) {
	query := r.URL.Query()
	version, said := query.Get("umaVersion"), query.Get("vaspDomain")
	if !query.Has("umaVersion") && !query.Has("vaspDomain") && !query.Has("signature") {
		return s.lookupByWallet(ctx, r, on)
	}
	if version != "" && !uma.SupportsVersion(version) {
		return nil, uma.Refuse(uma.UnsupportedVersion, "unsupported version: "+version[:min(len(version), 20)])
	}
	if version == "" || said == "" || query.Get("signature") == "" {
		return nil, uma.Refuse(uma.MissingUMAParameters, "umaVersion, vaspDomain, signature, nonce and timestamp are required; none of them for "+
			"a payment without UMA")
	}
	if err := s.Settles(on.ID); err != nil {
		return nil, err
	}
	domain, err := s.counterparty(on, said)
	if err != nil {
		return nil, err
	}
	name, err := pathName(r, lookupPath)
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(query.Get("timestamp"), 10, 64)
	if err != nil {
		return nil, uma.Refuse(uma.InvalidTimestamp, "timestamp must be seconds since 1970")
	}
	signed := signature{uma.Stamp{Nonce: query.Get("nonce"), Seconds: seconds}, query.Get("signature")}
	// The name is signed as the other provider has written it.
	if _, err := s.verify(ctx, on.ID, domain, signed, name+"@"+on.UMADomain); err != nil {
		return nil, err
	}
	to, err := s.receiver(ctx, r, on, lookupPath)
	if err != nil {
		return nil, err
	}
	answer, err := s.sign(ctx, on.ID, to.Address)
	if err != nil {
		return nil, err
	}
	response := lnurlResponse{Tag: "payRequest", Callback: payURL(on, to.Address),
		MinSendable: to.MinSats * 1000, MaxSendable: to.MaxSats * 1000, Metadata: metadata(to.Address, uuid.Nil), UMAVersion: uma.Version,
		PayerData: newFieldOptions(to.Wanted), Compliance: &lnurlCompliance{KYCStatus: "VERIFIED", Signature: answer.text,
			Nonce: answer.Nonce, Timestamp: answer.Seconds, IsSubjectToTravelRule: on.Regulated, ReceiverIdentifier: to.Address}}
	for _, c := range to.Currencies {
		response.Currencies = append(response.Currencies, newCurrencyOption(c))
	}
	return response, nil
}

func nameOf(address string) string {
	name, _ := customer.SplitUMAAddress(address)
	return name
}

// metadata is what an invoice is for (LUD-06), with the UMA invoice that it pays; zero for none.
func metadata(address string, paid uuid.UUID) string {
	entries := [][2]string{{"text/plain", "Pay to " + address}, {"text/identifier", address}}
	if paid != uuid.Nil {
		entries = append(entries, [2]string{"text/uma-invoice", paid.String()})
	}
	text, _ := json.Marshal(entries) // texts only
	return string(text)
}

// counterparty returns the domain of another provider in the form that it has in addresses. It refuses one that payments are not exchanged
// with.
func (s *Server) counterparty(on platform.Platform, said string) (string, error) {
	domain, ok := customer.ParseUMADomain(said)
	if !ok || domain == on.UMADomain {
		return "", uma.Refuse(uma.InvalidInput, "vaspDomain must be the host of another provider")
	}
	if !s.Policy.Allows(domain) {
		return "", uma.Refuse(uma.CounterpartyNotAllowed, "payments with "+domain+" are not allowed")
	}
	return domain, nil
}

// pay answers a pay request with an invoice, if the platform approves the payment.
func (s *Server) pay(ctx context.Context, r *http.Request, on platform.Platform) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var request payRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, uma.Refuse(uma.InvalidInput, "the body must be a pay request of UMA 1.0")
	}
	payer, err := decodePersonData[payerCompliance](request.PayerData)
	if err != nil {
		return nil, uma.Refuse(uma.MissingUMAParameters, "payerData "+err.Error())
	}
	sender, ok := customer.ParseUMAAddress(payer.identifier)
	if !ok {
		return nil, uma.Refuse(uma.InvalidInput, "payerData.identifier must be a UMA address")
	}
	_, domain := customer.SplitUMAAddress(sender)
	if _, err := s.counterparty(on, domain); err != nil {
		return nil, err
	}
	c := payer.compliance
	signed := signature{uma.Stamp{Nonce: c.SignatureNonce, Seconds: c.SignatureTimestamp}, c.Signature}
	if _, err := s.verify(ctx, on.ID, domain, signed, payer.identifier); err != nil {
		return nil, err
	}
	to, err := s.receiver(ctx, r, on, payPath)
	if err != nil {
		return nil, err
	}
	paid, err := paidInvoice(r, request.Invoice)
	if err != nil {
		return nil, err
	}
	in := payments.UMAPayRequest{Sender: sender, Receiver: to.Address, Facts: payer.facts, Wanted: request.PayeeData.facts(),
		Callback: knownCallback(c.UTXOCallback), Invoice: paid,
		DescriptionHash: sha256.Sum256([]byte(metadata(to.Address, paid) + string(request.PayerData)))}
	if in.Ask, err = request.ask(); err != nil {
		return nil, err
	}
	if c.EncryptedTravelRuleInfo != "" {
		if in.TravelRule, err = s.decrypt(ctx, on.ID, c.EncryptedTravelRuleInfo); err != nil {
			return nil, err
		}
		if len(in.TravelRule) > transaction.MaxTravelRule {
			return nil, uma.Refuse(uma.InvalidInput, "encryptedTravelRuleInfo is too long")
		}
	}
	invoiced, err := s.Payments.InvoiceUMAPayment(ctx, on, in)
	if err != nil {
		return nil, err
	}
	return s.payResponse(ctx, on, payer.identifier, to, invoiced)
}

func (s *Server) payResponse(ctx context.Context, on platform.Platform, payer string, to receivers.UMAReceiver, paid payments.UMAInvoice) (
	payResponse, error) {
	answer, err := s.sign(ctx, on.ID, payer, to.Address)
	if err != nil {
		return payResponse{}, err
	}
	payee := personData[payeeCompliance]{identifier: to.Address, facts: paid.Facts, compliance: &payeeCompliance{UTXOs: []string{},
		UTXOCallback: callbackURL(on, paid.Transaction), Signature: answer.text, SignatureNonce: answer.Nonce,
		SignatureTimestamp: answer.Seconds}}
	response := payResponse{Invoice: paid.Invoice.Request, Routes: []struct{}{}, Converted: &converted{Amount: paid.Received.Minor,
		CurrencyCode: string(paid.Received.Currency), Decimals: paid.Received.Currency.Decimals(),
		Multiplier: json.Number(paid.Offer.Multiplier.String()), Fee: paid.Offer.Fee}}
	response.PayeeData, err = payee.encode()
	return response, err
}

// pathName returns the name after a prefix of the path, such as "$ana".
func pathName(r *http.Request, prefix string) (string, error) {
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok || name == "" || strings.Contains(name, "/") {
		return "", uma.Refuse(uma.UserNotFound, "there is no such receiver")
	}
	return name, nil
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return nil, uma.Refuse(uma.InvalidInput, "the body is incomplete or too large")
	}
	return body, nil
}
