package partner

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"causeway/core/money"
	"causeway/core/rail"
)

// The settings of a connection.
const (
	settingURL           = "url"
	settingSecret        = "secret"
	settingTimeout       = "timeout"
	settingPoll          = "poll"
	settingConcurrency   = "concurrency"
	settingPlainHTTP     = "plainHttp"
	settingCA            = "caFile"
	settingAccountHolder = "accountHolder"
	prefixReceive        = "receive."
)

const (
	defaultTimeout     = 10 * time.Second
	defaultPoll        = time.Minute
	defaultConcurrency = 16
	maxPoll            = time.Hour
	returnPoll         = 24 * time.Hour
	connectTimeout     = 5 * time.Second
)

// settings are those of a connection, checked.
type settings struct {
	url         *url.URL
	secret      string // its reference
	timeout     time.Duration
	poll        time.Duration
	concurrency int
	roots       *x509.CertPool // nil for those of the system
	// holder and receive are how money is paid in: the owner of the accounts at the partner, and their fields by currency.
	holder  string
	receive map[money.Currency]map[string]string
}

// parseSettings returns the settings of a connection, or INVALID_INPUT with every one that is not valid.
func parseSettings(c rail.Connection) (settings, error) {
	r := rail.ReadSettings(c)
	s := settings{
		secret:      r.RequiredReference(settingSecret, "the secret with which both sides sign"),
		timeout:     r.Duration(settingTimeout, defaultTimeout, time.Second, time.Minute),
		poll:        r.Duration(settingPoll, defaultPoll, time.Second, maxPoll),
		concurrency: int(r.Number(settingConcurrency, defaultConcurrency, 1, 256)),
		roots:       rail.ParseSetting(r, settingCA, r.Text(settingCA, ""), readRoots),
		holder:      r.Text(settingAccountHolder, ""),
		receive:     map[money.Currency]map[string]string{},
	}
	plainHTTP := r.Text(settingPlainHTTP, "")
	if plainHTTP != "" && plainHTTP != "allow" {
		r.Refuse(settingPlainHTTP, "must be allow, or left out")
	}
	s.url = rail.ParseSetting(r, settingURL, r.Required(settingURL, "the URL of the sidecar"),
		func(text string) (*url.URL, error) { return ParseURL(text, plainHTTP == "allow") })
	if !isText(s.holder, maxHolder) {
		r.Refuse(settingAccountHolder, "must have at most %d printable characters", maxHolder)
	}
	s.readReceive(r)
	return s, r.Err()
}

// maxHolder is how many characters the owner of the account has at most, as in ISO 20022.
const maxHolder = 140

// readReceive reads the accounts at the partner that receive money, by currency.
func (s *settings) readReceive(r *rail.SettingReader) {
	for code, value := range r.Prefixed(prefixReceive) {
		var fields map[string]string
		currency, err := money.ParseCurrency(code)
		switch {
		case err != nil:
			r.Refuse(prefixReceive+code, "must name a known currency")
		case json.Unmarshal([]byte(value), &fields) != nil || fields["accountType"] == "":
			r.Refuse(
				prefixReceive+code, `must be a JSON object of texts with an accountType, such as {"accountType":"EUR_ACCOUNT","iban":"DE89370400440532013000"}`)
		case fields[fieldPaymentURL] != "" && !isPaymentURL(fields[fieldPaymentURL]):
			r.Refuse(prefixReceive+code, "must have a paymentUrl with https and {reference}, such as https://pay.example.com/?reference={reference}")
		default:
			s.receive[currency] = fields
		}
	}
	if len(s.receive) > 0 && s.holder == "" {
		r.Refuse(settingAccountHolder, "must be given with %sCURRENCY", prefixReceive)
	}
}

// fieldPaymentURL is the page on which a payer pays, with referenceInURL for the reference.
const (
	fieldPaymentURL = "paymentUrl"
	referenceInURL  = "{reference}"
)

func isPaymentURL(text string) bool {
	u, err := url.Parse(strings.ReplaceAll(text, referenceInURL, "A"))
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && strings.Contains(text, referenceInURL)
}

// ParseURL returns the base URL of a partner: https, or http for a loopback address or if plain HTTP is allowed.
func ParseURL(text string, plainHTTP bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !plainHTTP && !isLoopback(u.Hostname())) {
		return nil, errors.New("must be a URL such as https://partner.example.com/v1, without a user, query or fragment; http is for loopback " +
			"addresses, or with plainHttp set to allow in a network of your own")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// readRoots returns the certificates of a file.
func readRoots(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, errors.New("has no certificate in the PEM format")
	}
	return roots, nil
}

func (s settings) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: min(connectTimeout, s.timeout), KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: s.timeout,
		TLSClientConfig:     &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: s.concurrency, MaxConnsPerHost: s.concurrency + 4, IdleConnTimeout: 60 * time.Second,
		MaxResponseHeaderBytes: 16 << 10, DisableCompression: true,
	}
}
