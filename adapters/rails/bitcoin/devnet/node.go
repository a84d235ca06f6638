// Package devnet runs a private Bitcoin chain (btcd) in tests, and a wallet with the methods of Bitcoin Core on it.
package devnet

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Node is a private chain: btcd on regtest, whose blocks the tests make.
type Node struct {
	url, password string
	// first are the hashes of the blocks that it started with.
	first []string
}

// builtIn is the folder with the program of the node, if it was built.
var builtIn atomic.Pointer[string]

// buildNode builds btcd once, from its own module file, so that nothing of it is in the program.
var buildNode = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "causeway-btcd")
	if err != nil {
		return "", err
	}
	builtIn.Store(&folder)
	path := filepath.Join(folder, "btcd")
	build := exec.Command("go", "build", "-modfile=adapters/rails/bitcoin/testdata/btcd.mod", "-o", path, "github.com/btcsuite/btcd")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // one build for the tests with the race detector and those without
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build btcd: %w: %s", err, out)
	}
	return path, nil
})

// RemoveNode removes the program of the node after the tests of a package.
func RemoveNode() {
	if folder := builtIn.Load(); folder != nil {
		_ = os.RemoveAll(*folder)
	}
}

// moduleRoot returns the folder with go.mod.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			return folder, nil
		}
		if filepath.Dir(folder) == folder {
			return "", errors.New("go.mod was not found above the working directory")
		}
		folder = filepath.Dir(folder)
	}
	return "", err
}

// SegWitHeight is after the height at which the chain knows SegWit.
const SegWitHeight = 450

// start is the blocks that each chain begins with, and their hashes.
type start struct{ hashes, blocks []string }

// starts has them by the address that the rewards are paid to. Reading other blocks for each test takes long.
var starts struct {
	sync.Mutex
	byMiner map[string]start
}

// StartNode starts a chain on which SegWit is active, and whose rewards are paid to an address.
func StartNode(t testing.TB, miner string) *Node {
	t.Helper()
	program, err := buildNode()
	if err != nil {
		t.Fatal(err)
	}
	n := run(t, program, miner)
	starts.Lock()
	defer starts.Unlock()
	if begin, ok := starts.byMiner[miner]; ok {
		n.first = begin.hashes
		var refusals []string
		n.mustEach(t, &refusals, "submitblock", begin.blocks)
		if reason := strings.Join(refusals, ""); reason != "" {
			t.Fatal(reason)
		}
		return n
	}
	var genesis string
	n.Must(t, &genesis, "getblockhash", 0)
	mined := n.Mine(t, SegWitHeight)
	n.first = append([]string{genesis}, mined...)
	begin := start{hashes: n.first}
	n.mustEach(t, &begin.blocks, "getblock", mined, 0)
	if starts.byMiner == nil {
		starts.byMiner = map[string]start{}
	}
	starts.byMiner[miner] = begin
	return n
}

// run runs a node until the test ends, and returns when it answers.
func run(t testing.TB, program, miner string) *Node {
	t.Helper()
	for attempt := 1; ; attempt++ {
		n, err := tryRun(t, program, miner)
		switch {
		case err == nil:
			return n
		case attempt == 5: // another process may have taken the port meanwhile
			t.Fatal(err)
		}
	}
}

func tryRun(t testing.TB, program, miner string) (*Node, error) {
	t.Helper()
	folder := t.TempDir()
	rpc, peers := freePort(t), freePort(t)
	// The password is its own, so that another node that took the port meanwhile does not answer in its place.
	n := &Node{url: "http://" + rpc, password: rand.Text()}
	command := exec.Command(program, "--regtest", "--notls", "--txindex", "--nodnsseed", "--datadir="+folder, "--logdir="+folder,
		"--debuglevel=error", "--utxocachemaxsize=1", "--rpcuser=u", "--rpcpass="+n.password, "--rpclisten="+rpc, "--listen="+peers,
		"--miningaddr="+miner, "--configfile="+filepath.Join(folder, "none"))
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait()
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(time.Minute); ; {
		if err := n.Call(t.Context(), nil, "getblockcount"); err == nil {
			return n, nil
		} else if time.Now().After(deadline) {
			return nil, fmt.Errorf("btcd does not answer: %w", err)
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("btcd ended: %s", out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// nodeError is an error that btcd answered with.
type nodeError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *nodeError) Error() string { return fmt.Sprintf("btcd: %s (%d)", e.Message, e.Code) }

// call is a request to btcd, which takes several at once of version 2.0 only.
type call struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// answer is the answer to a call.
type answer struct {
	Result json.RawMessage
	Error  *nodeError
}

func (a answer) read(into any) error {
	if a.Error != nil {
		return a.Error
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(a.Result, into)
}

// post sends one or several calls.
func (n *Node) post(ctx context.Context, calls, answers any) error {
	body, err := json.Marshal(calls)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.SetBasicAuth("u", n.password)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, answers); err != nil {
		return fmt.Errorf("btcd answers %q", text)
	}
	return nil
}

func (n *Node) Call(ctx context.Context, into any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	var a answer
	if err := n.post(ctx, call{"1.0", 1, method, params}, &a); err != nil {
		return err
	}
	return a.read(into)
}

// mustEach calls a method once for each argument, with parameters after it, in one request.
func (n *Node) mustEach(t testing.TB, into *[]string, method string, arguments []string, params ...any) {
	t.Helper()
	calls := make([]call, len(arguments))
	for i, argument := range arguments {
		calls[i] = call{"2.0", i, method, append([]any{argument}, params...)}
	}
	var answers []answer
	if err := n.post(t.Context(), calls, &answers); err != nil || len(answers) != len(calls) {
		t.Fatalf("%s: %d answers to %d calls, %v", method, len(answers), len(calls), err)
	}
	*into = make([]string, len(answers))
	for i, a := range answers {
		if err := a.read(&(*into)[i]); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
}

// Must is Call, which must succeed.
func (n *Node) Must(t testing.TB, into any, method string, params ...any) {
	t.Helper()
	if err := n.Call(t.Context(), into, method, params...); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// Mine makes blocks of what waits, and returns their hashes.
func (n *Node) Mine(t testing.TB, blocks int) (hashes []string) {
	t.Helper()
	n.Must(t, &hashes, "generate", blocks)
	return hashes
}

// ReplaceFrom removes a block and those after it, which puts their transactions back among those that wait.
func (n *Node) ReplaceFrom(t testing.TB, block string) {
	t.Helper()
	n.Must(t, nil, "invalidateblock", block)
}

// nodeBlock is a block with its transactions.
type nodeBlock struct {
	Hash     string `json:"hash"`
	Height   int64  `json:"height"`
	Time     int64  `json:"time"`
	Previous string `json:"previousblockhash"`
	Txs      []struct {
		Hex string `json:"hex"`
	} `json:"rawtx"`
}

// blocks are those that were read, of all chains, by hash.
var blocks sync.Map

func (n *Node) Block(ctx context.Context, hash string) (b nodeBlock, err error) {
	if known, ok := blocks.Load(hash); ok {
		return known.(nodeBlock), nil
	}
	if err := n.Call(ctx, &b, "getblock", hash, 2); err != nil {
		return nodeBlock{}, err
	}
	blocks.Store(hash, b)
	return b, nil
}

func (n *Node) HashAt(ctx context.Context, height int64) (hash string, err error) {
	return hash, n.Call(ctx, &hash, "getblockhash", height)
}

// isNodeError reports whether btcd answered with an error.
func isNodeError(err error) (*nodeError, bool) {
	var answered *nodeError
	return answered, errors.As(err, &answered)
}
