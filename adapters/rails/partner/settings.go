package partner

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/core/money"
)

// The settings of a connection.
const (
	settingURL           = "url"
	settingSecret        = "secret"
	settingTimeout       = "timeout"
	settingPoll          = "poll"
	settingConcurrency   = "concurrency"
	settingPlainHTTP     = "plain-http"
	settingCA            = "ca-file"
	settingAccountHolder = "account-holder"
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

// parseSettings returns the settings, or what is wrong with the first that is not valid.
func parseSettings(given map[string]string) (settings, error) {
	s := settings{timeout: defaultTimeout, poll: defaultPoll, concurrency: defaultConcurrency, receive: map[money.Currency]map[string]string{}}
	for _, name := range []string{settingURL, settingSecret} {
		if given[name] == "" {
			return s, fmt.Errorf("the setting %s is required", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := s.set(name, given[name], given[settingPlainHTTP] == "allow"); err != nil {
			return s, fmt.Errorf("the setting %s %w", name, err)
		}
	}
	if len(s.receive) > 0 && s.holder == "" {
		return s, fmt.Errorf("the setting %s is required with %sCURRENCY", settingAccountHolder, prefixReceive)
	}
	return s, nil
}

func (s *settings) set(name, value string, plainHTTP bool) (err error) {
	switch name {
	case settingURL:
		s.url, err = ParseURL(value, plainHTTP)
	case settingSecret:
		if s.secret = value; !strings.HasPrefix(value, "file:") && !strings.HasPrefix(value, "env:") {
			err = errors.New("must be a reference to the secret, file:/path or env:NAME, and never the secret itself")
		}
	case settingTimeout:
		s.timeout, err = parseDuration(value, time.Second, time.Minute)
	case settingPoll:
		s.poll, err = parseDuration(value, time.Second, maxPoll)
	case settingConcurrency:
		if s.concurrency, err = strconv.Atoi(value); err != nil || s.concurrency < 1 || s.concurrency > 256 {
			err = errors.New("must be a number from 1 to 256")
		}
	case settingPlainHTTP:
		if value != "allow" {
			err = errors.New("must be allow, or left out")
		}
	case settingCA:
		s.roots, err = readRoots(value)
	case settingAccountHolder:
		if s.holder = value; !isText(value, 140) {
			err = errors.New("must have at most 140 printable characters")
		}
	default:
		err = s.setReceive(name, value)
	}
	return err
}

// setReceive sets the account at the partner that receives a currency.
func (s *settings) setReceive(name, value string) error {
	code, found := strings.CutPrefix(name, prefixReceive)
	if !found {
		return errors.New("is not one of an adapter PARTNER")
	}
	currency, err := money.ParseCurrency(code)
	if err != nil {
		return errors.New("names no known currency")
	}
	var fields map[string]string
	if err := json.Unmarshal([]byte(value), &fields); err != nil || fields["accountType"] == "" {
		return errors.New(`must be a JSON object of texts with an accountType, such as {"accountType":"EUR_ACCOUNT","iban":"DE89370400440532013000"}`)
	}
	s.receive[currency] = fields
	return nil
}

func parseDuration(text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("must be a duration from %s to %s", least, most)
	}
	return d, nil
}

// ParseURL returns the base URL of a partner: https, or http for a loopback address or if plain HTTP is allowed.
func ParseURL(text string, plainHTTP bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !plainHTTP && !isLoopback(u.Hostname())) {
		return nil, errors.New("must be a URL such as https://partner.example.com/v1, without a user, query or fragment; http is for loopback addresses, or with plain-http=allow in a network of your own")
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
		DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: s.timeout, TLSClientConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: s.concurrency, MaxConnsPerHost: s.concurrency + 4, IdleConnTimeout: 60 * time.Second, MaxResponseHeaderBytes: 16 << 10, DisableCompression: true,
	}
}
