package lightning

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"causeway/core/lightning"
	"causeway/core/platform"
)

const (
	// addressTimeout bounds each of the two calls for an invoice of a Lightning address.
	addressTimeout = 8 * time.Second
	maxAddressBody = 256 << 10 // bytes: metadata can have a picture
)

// payees ask the hosts of Lightning addresses for invoices (LUD-16 and LUD-06). They connect to public addresses only, and follow no
// redirect; with local, which is for networks of tests, to any and without TLS.
type payees struct {
	local     bool
	transport *http.Transport
}

func newPayees(local bool) *payees {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		// The address that is dialled is checked, after the name is resolved.
		dialled, err := netip.ParseAddrPort(address)
		if err != nil || !platform.AllowsWebhooksTo(local, dialled.Addr()) {
			return errors.New("its host has no public address")
		}
		return nil
	}}
	return &payees{local, &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout,
		ResponseHeaderTimeout: addressTimeout, MaxIdleConns: 64, MaxIdleConnsPerHost: 2, IdleConnTimeout: 20 * time.Second,
		MaxResponseHeaderBytes: 16 << 10, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
}

// refusal is why an address never gives an invoice.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refused(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// offer is what an address takes, in thousandths of a satoshi.
type offer struct {
	Tag      string `json:"tag"`
	Callback string `json:"callback"`
	Least    int64  `json:"minSendable"`
	Most     int64  `json:"maxSendable"`
	Metadata string `json:"metadata"`
}

// invoice returns an invoice of an address for an amount, and its text. The error is a *refusal if asking again is of no use.
func (p *payees) invoice(ctx context.Context, address string, satoshis int64,
	n lightning.Network) (i lightning.Invoice, text string, err error) {
	target, err := p.urlOf(address)
	if err != nil {
		return i, "", err
	}
	var o offer
	if err := p.get(ctx, target, &o); err != nil {
		return i, "", err
	}
	amount := satoshis * milli
	switch {
	case o.Tag != "payRequest":
		return i, "", refused("the address takes no payments")
	case amount < o.Least || amount > o.Most:
		return i, "", refused("the address takes from %d to %d thousandths of a satoshi", o.Least, o.Most)
	}
	callback, err := p.checkURL(o.Callback)
	if err != nil {
		return i, "", err
	}
	query := callback.Query()
	query.Set("amount", strconv.FormatInt(amount, 10))
	callback.RawQuery = query.Encode()
	var given struct {
		Invoice string `json:"pr"`
	}
	if err := p.get(ctx, callback, &given); err != nil {
		return i, "", err
	}
	i, err = o.check(given.Invoice, amount, n)
	return i, given.Invoice, err
}

// check reads the invoice that was given for an offer.
func (o offer) check(text string, amount int64, n lightning.Network) (lightning.Invoice, error) {
	i, err := lightning.ParseInvoice(text)
	switch {
	case err != nil:
		return i, refused("the address gives an invoice that %v", err)
	case i.Network != n:
		return i, refused("the address gives an invoice of another network")
	case i.MilliSatoshis != amount:
		return i, refused("the address gives an invoice for %d thousandths of a satoshi in place of %d", i.MilliSatoshis, amount)
	case i.DescriptionHash == nil || *i.DescriptionHash != sha256.Sum256([]byte(o.Metadata)):
		return i, refused("the address gives an invoice for something else than it describes")
	}
	return i, nil
}

// urlOf returns where an address is asked.
func (p *payees) urlOf(address string) (*url.URL, error) {
	user, host, found := strings.Cut(address, "@")
	if !found || user == "" || host == "" {
		return nil, refused("the address has not the form name@host")
	}
	scheme := "https"
	if p.local {
		scheme = "http"
	}
	return p.checkURL(scheme + "://" + strings.ToLower(host) + "/.well-known/lnurlp/" + url.PathEscape(strings.ToLower(user)))
}

func (p *payees) checkURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !p.local) {
		return nil, refused("the address names a URL that is not asked")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// get asks a URL for a document.
func (p *payees) get(ctx context.Context, u *url.URL, into any) error {
	ctx, cancel := context.WithTimeout(ctx, addressTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return refused("the address names a URL that is not asked")
	}
	request.Header.Set("Accept", "application/json")
	response, err := p.transport.RoundTrip(request)
	if err != nil {
		return errors.New("the host of the address does not answer")
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAddressBody+1))
	if err != nil {
		return errors.New("the answer of the host of the address is incomplete")
	}
	var said struct {
		Status string `json:"status"`
	}
	isJSON := json.Unmarshal(text, &said) == nil
	switch {
	case response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone:
		return refused("the host does not know the address")
	case isJSON && strings.EqualFold(said.Status, "ERROR"): // its reason can name persons
		return errors.New("the host of the address gives no invoice now")
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the host of the address answers with the status %d", response.StatusCode)
	case len(text) > maxAddressBody || !isJSON || json.Unmarshal(text, into) != nil:
		return errors.New("the host of the address answers not as documented")
	}
	return nil
}
