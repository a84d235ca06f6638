// Package vault implements ports.Sealer with the transit engine of HashiCorp Vault or OpenBao: the master key
// never leaves it.
package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"causeway/ports"
)

// Scheme begins the setting of a key in Vault.
const Scheme = "vault:"

// A sealed value is a version, the version of the key in Vault, and the ciphertext that Vault returned. The
// plain text for Vault begins with the hash of the context, which Vault authenticates with the rest: older
// releases ignore associated data.
const (
	version      = 3 // 1 and 2 are those of the package encryption
	prefixLength = 1 + 4
)

const (
	maxBody      = 64 << 10
	timeout      = 4 * time.Second // of a call with its repetitions: a database transaction may wait for it
	tryTimeout   = 1500 * time.Millisecond
	maxTries     = 3
	firstBackoff = 200 * time.Millisecond
)

// Sealer seals with the newest version of a key in Vault, and opens with any. It is safe for concurrent use.
type Sealer struct {
	base      *url.URL // of the API
	mount     string
	key       string
	token     func() (string, error)
	transport http.RoundTripper

	timeout, tryTimeout time.Duration

	mu     sync.Mutex
	opened map[[sha256.Size]byte][]byte
}

var _ ports.Sealer = (*Sealer)(nil)

// maxOpened is how many opened values are kept: keys that the process has in memory anyway, and reads
// again and again. So it works while Vault cannot be reached.
const maxOpened = 4096

// New returns a Sealer for a setting such as "vault:https://vault.example.com:8200/transit/causeway": the
// address of Vault, and the mount of the transit engine with the name of the key behind it. token is called
// for each request, so that it may be replaced. New makes no request.
func New(setting string, token func() (string, error)) (*Sealer, error) {
	address, ok := strings.CutPrefix(setting, Scheme)
	u, err := url.Parse(address)
	if !ok || err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errSetting
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil, errors.New("the address of Vault must be https, or http for a loopback address")
	}
	path := strings.Trim(u.Path, "/")
	slash := strings.LastIndexByte(path, '/')
	if slash <= 0 || strings.Contains(path, "//") || strings.Contains(path, "..") {
		return nil, errSetting
	}
	return &Sealer{base: &url.URL{Scheme: u.Scheme, Host: u.Host}, mount: path[:slash], key: path[slash+1:], token: token,
		transport: http.DefaultTransport.(*http.Transport).Clone(), timeout: timeout, tryTimeout: tryTimeout,
		opened: map[[sha256.Size]byte][]byte{}}, nil
}

var errSetting = errors.New("must be vault: and the address of a key, such as vault:https://vault.example.com:8200/transit/causeway")

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Seal implements ports.Sealer.
func (s *Sealer) Seal(plain, context []byte) ([]byte, error) {
	bound := sha256.Sum256(context)
	var answer struct{ Ciphertext string }
	if err := s.call("encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(append(bound[:], plain...))},
		&answer); err != nil {
		return nil, err
	}
	keyVersion, encoded, ok := strings.Cut(strings.TrimPrefix(answer.Ciphertext, "vault:v"), ":")
	number, err := strconv.ParseUint(keyVersion, 10, 32)
	ciphertext, decodeErr := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || decodeErr != nil || len(ciphertext) == 0 || toText(uint32(number), ciphertext) != answer.Ciphertext {
		return nil, errors.New("vault: the ciphertext in the response does not have the form vault:v1:<base64>")
	}
	return append(binary.BigEndian.AppendUint32([]byte{version}, uint32(number)), ciphertext...), nil
}

// isSealed reports whether a value has the form of those that Seal returns.
func isSealed(value []byte) bool { return len(value) > prefixLength && value[0] == version }

// Open implements ports.Sealer.
func (s *Sealer) Open(sealed, context []byte) ([]byte, error) {
	if !isSealed(sealed) {
		return nil, ports.ErrCannotDecrypt
	}
	bound := sha256.Sum256(context)
	name := sha256.Sum256(append(bound[:], sealed...))
	if plain, known := s.known(name); known {
		return plain, nil
	}
	var answer struct{ Plaintext string }
	text := toText(binary.BigEndian.Uint32(sealed[1:]), sealed[prefixLength:])
	if err := s.call("decrypt", map[string]string{"ciphertext": text}, &answer); err != nil {
		return nil, err
	}
	plain, err := base64.StdEncoding.DecodeString(answer.Plaintext)
	if err != nil {
		return nil, errors.New("vault: the plain text in the response is not base64")
	}
	if len(plain) < len(bound) || subtle.ConstantTimeCompare(plain[:len(bound)], bound[:]) != 1 {
		return nil, ports.ErrCannotDecrypt
	}
	plain = plain[len(bound):]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) >= maxOpened {
		clear(s.opened)
	}
	s.opened[name] = bytes.Clone(plain)
	return plain, nil
}

// known returns a value that was opened before.
func (s *Sealer) known(name [sha256.Size]byte) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	plain, known := s.opened[name]
	return bytes.Clone(plain), known
}

// toText returns a ciphertext as Vault writes it.
func toText(keyVersion uint32, ciphertext []byte) string {
	return fmt.Sprintf("vault:v%d:%s", keyVersion, base64.StdEncoding.EncodeToString(ciphertext))
}

// call makes a request, and repeats it while Vault cannot be reached or is sealed: both operations may be
// repeated.
func (s *Sealer) call(operation string, body map[string]string, answer any) error {
	request, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	backoff := firstBackoff
	for try := 1; ; try++ {
		err := s.try(ctx, operation, request, answer)
		var temporary temporaryError
		if err == nil || try == maxTries || !errors.As(err, &temporary) {
			return err
		}
		select {
		case <-time.After(backoff):
		case <-ctx.Done():
			return err
		}
		backoff *= 3
	}
}

// temporaryError is the error of a request that may succeed later.
type temporaryError struct{ error }

func (e temporaryError) Unwrap() error { return e.error }

func (s *Sealer) try(ctx context.Context, operation string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, s.tryTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base.JoinPath("v1", s.mount, operation, s.key).String(),
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	token, err := s.token()
	if err != nil {
		return fmt.Errorf("vault: read the token: %w", err)
	}
	request.Header.Set("X-Vault-Token", token)
	request.Header.Set("X-Vault-Request", "true")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "causeway")
	// A http.Client would follow redirects; the transport does not.
	response, err := s.transport.RoundTrip(request)
	if err != nil {
		return temporaryError{fmt.Errorf("vault: %s with %s: %w", operation, s.base.Host, err)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return temporaryError{fmt.Errorf("vault: read the response: %w", err)}
	case response.StatusCode != http.StatusOK:
		return s.statusError(operation, response.StatusCode, text)
	case len(text) > maxBody:
		return fmt.Errorf("vault: the response has more than %d bytes", maxBody)
	}
	data := struct{ Data any }{answer}
	if json.Unmarshal(text, &data) != nil {
		return errors.New("vault: the response is not the JSON of the transit engine") // without its text, which may be secret
	}
	return nil
}

// statusError says what a response means that is not a success.
func (s *Sealer) statusError(operation string, status int, text []byte) error {
	var said struct{ Errors []string }
	_ = json.Unmarshal(text, &said) // a proxy may answer in another form
	err := fmt.Errorf("vault: %s with the key %s/%s: status %d: %s", operation, s.mount, s.key, status, strings.Join(said.Errors, "; "))
	switch {
	case status == http.StatusForbidden:
		return fmt.Errorf("%w; the token of CAUSEWAY_VAULT_TOKEN must be valid, and its policy must allow update on %s/encrypt/%s and "+
			"%s/decrypt/%s", err, s.mount, s.key, s.mount, s.key)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError || status == http.StatusPreconditionFailed:
		return temporaryError{err}
	case status >= 300 && status < 400:
		return fmt.Errorf("%w; redirects are not followed: set the address of the active server, or of a load balancer", err)
	case status == http.StatusBadRequest && operation == "decrypt":
		return fmt.Errorf("%w: %w", ports.ErrCannotDecrypt, err)
	}
	return err
}
