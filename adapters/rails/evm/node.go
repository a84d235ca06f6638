package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"time"
)

const (
	callTimeout     = 15 * time.Second
	maxReplyBytes   = 48 << 20
	maxBatch        = 100
	maxErrorText    = 200
	chainIDValidity = 10 * time.Minute
)

// errTooLarge is the error for a reply that is larger than maxReplyBytes.
var errTooLarge = errors.New("the reply is too large")

// request is one call. Result points to what its reply is decoded into. Err is the node's own error.
type request struct {
	Method string
	Params []any
	Result any
	Err    error
}

// nodeError is an error that a node returned.
type nodeError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *nodeError) Error() string {
	text := strings.ToValidUTF8(e.Message, "\uFFFD")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "")
	}
	return fmt.Sprintf("%s (%d)", text, e.Code)
}

// isRevert reports whether a call failed because the contract refused it.
func isRevert(err error) bool {
	var failed *nodeError
	const executionError = 3
	return errors.As(err, &failed) && (failed.Code == executionError || strings.Contains(strings.ToLower(failed.Message), "revert"))
}

// isBusy reports whether a node has refused a call for its own reasons, so that another one may answer it.
func isBusy(err error) bool {
	var failed *nodeError
	const unavailable, limitExceeded = -32002, -32005 // EIP-1474
	return errors.As(err, &failed) && (failed.Code == unavailable || failed.Code == limitExceeded || failed.Code == http.StatusTooManyRequests)
}

// node is a node by its URL, which is secret.
type node struct {
	url, name string
	checkedAt atomic.Int64 // when its chain was last checked, in Unix seconds
}

// nodes are the nodes of a chain, in the order in which they are asked.
type nodes struct {
	list    []*node
	http    *http.Client
	chainID uint64
	now     func() time.Time
}

func newNodes(urls []string, chainID uint64, client *http.Client, now func() time.Time) *nodes {
	n := &nodes{http: client, chainID: chainID, now: now}
	for i, u := range urls {
		host := ""
		if parsed, err := url.Parse(u); err == nil {
			host = parsed.Host
		}
		n.list = append(n.list, &node{url: u, name: fmt.Sprintf("node %d (%s)", i+1, host)})
	}
	return n
}

// call sends requests to the first node that answers. It returns an error if none does, or the first error of a request.
func (n *nodes) call(ctx context.Context, requests ...*request) error {
	if err := n.send(ctx, requests...); err != nil {
		return err
	}
	for _, r := range requests {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	return nil
}

// send is like call, but leaves the errors of requests to the caller.
func (n *nodes) send(ctx context.Context, requests ...*request) error {
	var failed error
	for _, one := range n.list {
		err := n.sendTo(ctx, one, requests)
		if err == nil {
			err = busy(one, requests)
		}
		if err == nil || errors.Is(err, errTooLarge) || ctx.Err() != nil {
			return err
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// busy returns the error of the first request that a node has refused for its own reasons.
func busy(of *node, requests []*request) error {
	for _, r := range requests {
		if isBusy(r.Err) {
			return fmt.Errorf("%s: %s: %w", of.name, r.Method, r.Err)
		}
	}
	return nil
}

// sendTo sends requests to one node, after it was checked that it is of the chain.
func (n *nodes) sendTo(ctx context.Context, to *node, requests []*request) error {
	if err := n.checkChain(ctx, to); err != nil {
		return err
	}
	for len(requests) > 0 {
		size := min(len(requests), maxBatch)
		if err := n.post(ctx, to, requests[:size]); err != nil {
			return err
		}
		requests = requests[size:]
	}
	return nil
}

// checkChain returns an error if a node is of another chain.
func (n *nodes) checkChain(ctx context.Context, of *node) error {
	now := n.now().Unix()
	if checked := of.checkedAt.Load(); checked != 0 && now-checked < int64(chainIDValidity.Seconds()) {
		return nil
	}
	var id hexUint
	r := &request{Method: "eth_chainId", Result: &id}
	if err := n.post(ctx, of, []*request{r}); err != nil {
		return err
	}
	if r.Err != nil {
		return fmt.Errorf("%s: eth_chainId: %w", of.name, r.Err)
	}
	if uint64(id) != n.chainID {
		return fmt.Errorf("%s is of the chain %d, not %d; correct urls or chainId", of.name, uint64(id), n.chainID)
	}
	of.checkedAt.Store(now)
	return nil
}

type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

type rpcReply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *nodeError      `json:"error"`
}

// post sends one batch. Errors never contain the URL.
func (n *nodes) post(ctx context.Context, to *node, requests []*request) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	batch := make([]rpcRequest, len(requests))
	for i, r := range requests {
		params := r.Params
		if params == nil {
			params = []any{}
		}
		batch[i] = rpcRequest{"2.0", i + 1, r.Method, params}
	}
	var content any = batch
	if len(batch) == 1 {
		content = batch[0]
	}
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	reply, err := n.exchange(ctx, to, body)
	if err != nil {
		return fmt.Errorf("%s: %w", to.name, err)
	}
	if err := decodeReplies(reply, requests); err != nil {
		return fmt.Errorf("%s: %w", to.name, err)
	}
	return nil
}

func (n *nodes) exchange(ctx context.Context, to *node, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL is not valid")
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := n.http.Do(r)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // without the URL
		}
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxReplyBytes {
		return nil, errTooLarge
	}
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode != http.StatusOK && !json.Valid(content) {
		return nil, fmt.Errorf("HTTP status %d", response.StatusCode)
	}
	return content, nil
}

// decodeReplies decodes the replies of requests. A request without a reply, and one with a reply that cannot be decoded,
// is an error of the whole batch: then nothing of it is used.
func decodeReplies(content []byte, requests []*request) error {
	var replies []rpcReply
	if trimmed := bytes.TrimSpace(content); len(trimmed) > 0 && trimmed[0] == '{' {
		var single rpcReply
		if err := json.Unmarshal(content, &single); err != nil {
			return fmt.Errorf("invalid reply: %w", err)
		}
		if len(requests) > 1 {
			if single.Error == nil {
				return errors.New("one reply to a batch; the node must support batches of JSON-RPC")
			}
			return single.Error
		}
		single.ID = 1
		replies = []rpcReply{single}
	} else if err := json.Unmarshal(content, &replies); err != nil {
		return fmt.Errorf("invalid reply: %w", err)
	}
	seen := make([]bool, len(requests))
	for _, reply := range replies {
		i := reply.ID - 1
		if i < 0 || i >= len(requests) || seen[i] {
			return errors.New("a reply to no request")
		}
		seen[i] = true
		requests[i].Err = nil
		switch {
		case reply.Error != nil:
			requests[i].Err = reply.Error
		case len(reply.Result) == 0:
			return errors.New("a reply without a result")
		default:
			reflect.ValueOf(requests[i].Result).Elem().SetZero() // of what another node has said
			if err := json.Unmarshal(reply.Result, requests[i].Result); err != nil {
				return fmt.Errorf("%s: %w", requests[i].Method, err)
			}
		}
	}
	for i, found := range seen {
		if !found {
			return fmt.Errorf("%s: no reply", requests[i].Method)
		}
	}
	return nil
}
