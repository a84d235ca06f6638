package bitcoin

import (
	"bytes"
	"context"
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
	callTimeout    = 20 * time.Second
	// importTimeout is for calls in which the wallet reads blocks.
	importTimeout = 45 * time.Second
	maxAnswer     = 64 << 20 // bytes: about 100,000 transactions of a list
)

// The codes of errors that the node answers with.
const (
	rpcWalletError       = -4
	rpcNotFound          = -5
	rpcInsufficientFunds = -6
	rpcAlreadyInChain    = -27
	rpcAlreadyUnlocked   = -17
)

// rpcError is an error that the node answered with.
type rpcError struct {
	Method  string `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("%s: %s (code %d)", e.Method, e.Message, e.Code)
}

// hasCode reports whether the node answered with an error of a code.
func hasCode(err error, codes ...int) bool {
	var answered *rpcError
	if !errors.As(err, &answered) {
		return false
	}
	for _, code := range codes {
		if answered.Code == code {
			return true
		}
	}
	return false
}

// client calls the JSON-RPC of a node, for one wallet. It follows no redirect and uses no proxy.
type client struct {
	url       string
	settings  settings
	secrets   ports.Secrets
	transport *http.Transport
}

func newClient(s settings, secrets ports.Secrets) *client {
	return &client{url: s.url + "/wallet/" + url.PathEscape(s.wallet), settings: s, secrets: secrets, transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout: connectTimeout, MaxConnsPerHost: 4, MaxIdleConnsPerHost: 4, IdleConnTimeout: 20 * time.Second,
		ForceAttemptHTTP2: true,
	}}
}

type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type rpcAnswer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// call makes one call, and decodes its result unless into is nil.
func (c *client) call(ctx context.Context, into any, method string, params ...any) error {
	return c.callFor(ctx, callTimeout, into, method, params...)
}

func (c *client) callFor(ctx context.Context, timeout time.Duration, into any, method string, params ...any) error {
	answers, err := c.batch(ctx, timeout, method, [][]any{params})
	if err != nil {
		return err
	}
	return answers[0].decode(method, into)
}

func (a rpcAnswer) decode(method string, into any) error {
	if a.Error != nil {
		a.Error.Method = method
		return a.Error
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, into); err != nil {
		return fmt.Errorf("%s: the result is not as documented", method)
	}
	return nil
}

// batch makes calls of one method in one request, and returns their answers in the same order.
func (c *client) batch(ctx context.Context, timeout time.Duration, method string, params [][]any) ([]rpcAnswer, error) {
	requests := make([]rpcRequest, len(params))
	for i, p := range params {
		if p == nil {
			p = []any{}
		}
		requests[i] = rpcRequest{"1.0", i, method, p}
	}
	body, err := json.Marshal(requests)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	text, err := c.post(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	var answers []rpcAnswer
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(params) {
		return nil, fmt.Errorf("%s: the answer is not JSON-RPC", method)
	}
	ordered := make([]rpcAnswer, len(params))
	seen := make([]bool, len(params))
	for _, a := range answers {
		if a.ID < 0 || a.ID >= len(params) || seen[a.ID] {
			return nil, fmt.Errorf("%s: the answer is to another call", method)
		}
		ordered[a.ID], seen[a.ID] = a, true
	}
	return ordered, nil
}

func (c *client) post(ctx context.Context, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the request cannot be made: the URL is not valid")
	}
	request.Header.Set("Content-Type", "application/json")
	if err := c.authorise(ctx, request); err != nil {
		return nil, err
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK, http.StatusInternalServerError:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, errors.New("the node refuses the user and the password, or this address; check rpcauth and rpcallowip")
	default:
		return nil, fmt.Errorf("the node answers with the status %d", response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, errors.New("the answer is incomplete")
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return text, nil
}

// authorise adds the user and the password. They are read for each request, because a node writes a new cookie when
// it starts.
func (c *client) authorise(ctx context.Context, request *http.Request) error {
	reference := c.settings.password
	if c.settings.cookie != "" {
		reference = c.settings.cookie
	}
	secret, err := c.secrets.Secret(ctx, reference)
	if err != nil {
		return err
	}
	text := strings.TrimRight(string(secret), "\r\n")
	if c.settings.cookie == "" {
		request.SetBasicAuth(c.settings.user, text)
		return nil
	}
	user, password, ok := strings.Cut(text, ":")
	if !ok {
		return fmt.Errorf("the secret %s is not a cookie of a node: it has no colon", reference)
	}
	request.SetBasicAuth(user, password)
	return nil
}
