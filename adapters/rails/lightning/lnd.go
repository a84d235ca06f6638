package lightning

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"causeway/ports"
)

const (
	connectTimeout = 5 * time.Second
	// callTimeout bounds a call whose answer comes at once, and payTimeout the call that begins a payment.
	callTimeout = 10 * time.Second
	payTimeout  = 10 * time.Second
	maxAnswer   = 16 << 20 // bytes
)

// lnd calls the REST interface of LND. It follows no redirect and uses no proxy.
type lnd struct {
	settings  settings
	secrets   ports.Secrets
	transport *http.Transport
	// payWait is how long pay waits for more than the beginning of a payment, and settledWait how long settled waits for the first
	// invoice.
	payWait, settledWait time.Duration
}

// maxConnections bounds the connections to the node: calls about payments, and one that waits for invoices.
const maxConnections = 32

func newLND(s settings, secrets ports.Secrets) *lnd {
	return &lnd{settings: s, secrets: secrets, transport: newTransport(s), payWait: 1500 * time.Millisecond, settledWait: time.Second}
}

// newTransport returns the transport of calls to a node.
func newTransport(s settings) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout}
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout,
		MaxConnsPerHost: maxConnections, MaxIdleConnsPerHost: 8, IdleConnTimeout: 20 * time.Second,
		// A call that is given up closes its connection, and so its stream at the node.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	if s.certificate != ([32]byte{}) {
		transport.TLSClientConfig = pinned(s.certificate)
	}
	return transport
}

// pinned accepts a node that shows the certificate with a SHA-256, whatever its names and authority are.
func pinned(certificate [32]byte) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // the certificate itself is compared
		VerifyConnection: func(shown tls.ConnectionState) error {
			if len(shown.PeerCertificates) == 0 || sha256.Sum256(shown.PeerCertificates[0].Raw) != certificate {
				return fmt.Errorf("the node shows another certificate than that of %s", settingCertificate)
			}
			return nil
		},
	}
}

// lag is zero: the indexes of LND only grow.
func (c *lnd) lag() uint64 { return 0 }

// onTheWay is zero: the balance has what is on its way.
func (c *lnd) onTheWay(int64) int64 { return 0 }

func (c *lnd) close() { c.transport.CloseIdleConnections() }

// call makes a call, and decodes its answer unless into is nil.
func (c *lnd) call(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return errors.New("the answer of the node is incomplete")
	case len(text) > maxAnswer:
		return fmt.Errorf("the answer of the node has more than %d bytes", maxAnswer)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return errors.New("the answer of the node is not as documented")
	}
	return nil
}

// stream makes a call whose answer has many parts, and passes each to next until that returns false or the context ends.
func (c *lnd) stream(ctx context.Context, method, path string, body any, next func(part json.RawMessage) (more bool, err error)) error {
	response, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxAnswer)
	for lines.Scan() {
		var part struct {
			Result json.RawMessage `json:"result"`
			Error  *lndError       `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &part); err != nil {
			return errors.New("the answer of the node is not as documented")
		}
		if part.Error != nil {
			return part.Error.err()
		}
		if more, err := next(part.Result); err != nil || !more {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// lndError is an error of a call.
type lndError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// The codes of gRPC. Those of transport leave open whether the node has done it.
const (
	grpcCanceled         = 1
	grpcDeadlineExceeded = 4
	grpcNotFound         = 5
	grpcInternal         = 13
	grpcUnavailable      = 14
)

// err returns the error as an *answer, unless it leaves open what the node does.
func (e lndError) err() error {
	switch e.Code {
	case grpcCanceled, grpcDeadlineExceeded, grpcInternal, grpcUnavailable:
		return fmt.Errorf("the node is not available: %s (code %d)", e.Message, e.Code)
	}
	if e.Code == grpcNotFound && e.Message == "Not Found" { // of its gateway
		return errors.New("the node does not have the call; use a release of LND, or build it with the tags of one")
	}
	never := strings.Contains(e.Message, "invoice expired") || strings.Contains(e.Message, "self-payments not allowed")
	return &answer{code: e.Code, message: e.Message, permanent: never}
}

// request sends a request and returns its response if that is no error.
func (c *lnd) request(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.settings.url+path, content)
	if err != nil {
		return nil, errors.New("the request cannot be made: the URL is not valid")
	}
	macaroon, err := c.secrets.Secret(ctx, c.settings.macaroon)
	if err != nil {
		return nil, err
	}
	if _, err := hex.DecodeString(string(macaroon)); err != nil {
		return nil, fmt.Errorf("the secret %s is not a macaroon in hexadecimal digits", c.settings.macaroon)
	}
	request.Header.Set("Grpc-Metadata-Macaroon", string(macaroon))
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	var said struct {
		lndError
		Error *lndError `json:"error"`
	}
	switch {
	case err != nil || json.Unmarshal(text, &said) != nil || said.Error == nil && said.Code == 0:
		return nil, fmt.Errorf("the node answers with the status %d", response.StatusCode)
	case said.Error != nil:
		return nil, said.Error.err()
	}
	return nil, said.err()
}

// lndPayment is a payment as the node describes it.
type lndPayment struct {
	Status  string    `json:"status"`
	Fee     lndNumber `json:"fee_msat"`
	Value   lndNumber `json:"value_msat"`
	Failure string    `json:"failure_reason"`
}

func (p lndPayment) state() (state, error) {
	switch p.Status {
	case "IN_FLIGHT", "INITIATED":
		return state{stage: inFlight}, nil
	case "FAILED":
		return state{stage: failed, reason: strings.TrimPrefix(p.Failure, "FAILURE_REASON_")}, nil
	case "SUCCEEDED":
		return state{stage: succeeded, feeMilliSatoshis: max(int64(p.Fee), 0), milliSatoshis: max(int64(p.Value), 0)}, nil
	}
	return state{}, fmt.Errorf("the node describes a payment with the unknown status %.40q", p.Status)
}

func (c *lnd) pay(ctx context.Context, order payOrder) (state, error) {
	body := map[string]any{"payment_request": order.invoice, "fee_limit_sat": order.maxFee,
		"timeout_seconds": int64(order.payFor / time.Second), "allow_self_payment": false}
	if order.satoshis > 0 {
		body["amt"] = order.satoshis
	}
	ctx, cancel := context.WithTimeout(ctx, payTimeout)
	defer cancel()
	var last state
	begun := false
	err := c.stream(ctx, http.MethodPost, "/v2/router/send", body, func(part json.RawMessage) (bool, error) {
		var p lndPayment
		if err := json.Unmarshal(part, &p); err != nil {
			return false, errors.New("the answer of the node is not as documented")
		}
		var err error
		if last, err = p.state(); err != nil || last.stage != inFlight {
			return false, err
		}
		if !begun {
			begun = true
			stop := time.AfterFunc(c.payWait, cancel)
			context.AfterFunc(ctx, func() { stop.Stop() })
		}
		return true, nil
	})
	if begun && last.stage == inFlight {
		return last, nil // whatever has ended the answer
	}
	return last, err
}

func (c *lnd) track(ctx context.Context, hash Hash) (state, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var p lndPayment
	err := c.stream(ctx, http.MethodGet, "/v2/router/track/"+base64.URLEncoding.EncodeToString(hash[:]), nil,
		func(part json.RawMessage) (bool, error) { return false, json.Unmarshal(part, &p) })
	var said *answer
	if errors.As(err, &said) && said.code == grpcNotFound {
		return state{stage: notKnown}, nil
	}
	if err != nil {
		return state{}, err
	}
	return p.state()
}

func (c *lnd) addInvoice(ctx context.Context, order invoiceOrder) (string, error) {
	var made struct {
		Request string `json:"payment_request"`
	}
	body := map[string]any{"memo": order.memo, "value_msat": order.milliSatoshis, "expiry": int64(order.expiry / time.Second),
		"private": order.routeHints}
	if order.descriptionHash != [32]byte{} {
		body["description_hash"] = order.descriptionHash[:]
	}
	err := c.call(ctx, http.MethodPost, "/v1/invoices", body, &made)
	return made.Request, err
}

func (c *lnd) cancelInvoice(ctx context.Context, hash Hash) error {
	err := c.call(ctx, http.MethodPost, "/v2/invoices/cancel", map[string]any{"payment_hash": hash[:]}, nil)
	var said *answer
	switch {
	case !errors.As(err, &said):
		return err
	case strings.Contains(said.message, "already settled"):
		return errSettled
	case strings.Contains(said.message, "already canceled"), strings.Contains(said.message, "unable to locate invoice"),
		strings.Contains(said.message, "no existing invoices"):
		return nil
	}
	return err
}

// lndInvoice is an invoice as the node describes it.
type lndInvoice struct {
	Memo        string    `json:"memo"`
	Hash        []byte    `json:"r_hash"`
	State       string    `json:"state"`
	AddIndex    lndNumber `json:"add_index"`
	SettleIndex lndNumber `json:"settle_index"`
	SettleDate  lndNumber `json:"settle_date"`
	Paid        lndNumber `json:"amt_paid_msat"`
}

func (i lndInvoice) settlement() (Settlement, error) {
	if len(i.Hash) != len(Hash{}) || i.SettleIndex <= 0 || i.Paid <= 0 {
		return Settlement{}, errors.New("the node describes a settled invoice not as documented")
	}
	return Settlement{Index: uint64(i.SettleIndex), Hash: Hash(i.Hash), Memo: memoOf(i.Memo), MilliSatoshis: int64(i.Paid),
		At: time.Unix(int64(i.SettleDate), 0).UTC()}, nil
}

// maxMemo bounds what is kept of a memo: references are shorter.
const maxMemo = 64

// memoOf returns a memo that can be a reference; empty for another text.
func memoOf(text string) string {
	if len(text) > maxMemo || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return text
}

const (
	// settledPause is how long settled waits for a further invoice.
	settledPause = 200 * time.Millisecond
	maxSettled   = 500
)

func (c *lnd) settled(ctx context.Context, after uint64) (found []Settlement, err error) {
	if after == 0 { // of which the node sends no settled invoices
		return c.settledFirst(ctx)
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	pause := time.AfterFunc(c.settledWait, cancel)
	defer pause.Stop()
	query := url.Values{"settle_index": {fmt.Sprint(after)}}
	err = c.stream(limited, http.MethodGet, "/v1/invoices/subscribe?"+query.Encode(), nil, func(part json.RawMessage) (bool, error) {
		var i lndInvoice
		if err := json.Unmarshal(part, &i); err != nil {
			return false, errors.New("the answer of the node is not as documented")
		}
		if i.State == "SETTLED" {
			s, err := i.settlement()
			if err != nil {
				return false, err
			}
			if s.Index > after {
				found = append(found, s)
			}
		}
		pause.Reset(settledPause)
		return len(found) < maxSettled, nil
	})
	if limited.Err() != nil && ctx.Err() == nil {
		err = nil // there is no more now
	}
	return found, err
}
