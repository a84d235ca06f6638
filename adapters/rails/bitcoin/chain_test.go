package bitcoin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// node is a private chain: btcd on regtest, whose blocks the tests make.
type node struct{ url string }

// buildNode builds btcd once, from its own module file, so that nothing of it is in the program.
var buildNode = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "causeway-btcd")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "btcd")
	build := exec.Command("go", "build", "-modfile=adapters/rails/bitcoin/testdata/btcd.mod", "-o", path, "github.com/btcsuite/btcd")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build btcd: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := buildNode(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// segWitHeight is after the height at which the chain knows SegWit.
const segWitHeight = 450

// newNode starts a chain on which SegWit is active, and whose rewards are paid to an address.
func newNode(t testing.TB, miner string) *node {
	t.Helper()
	path, err := buildNode()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	rpc, peers := freePort(t), freePort(t)
	command := exec.Command(path, "--regtest", "--notls", "--txindex", "--nodnsseed", "--datadir="+folder, "--logdir="+folder, "--debuglevel=error",
		"--rpcuser=u", "--rpcpass=p", "--rpclisten="+rpc, "--listen="+peers, "--miningaddr="+miner, "--configfile="+filepath.Join(folder, "none"))
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	n := &node{url: "http://" + rpc}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if err := n.call(t.Context(), nil, "getblockcount"); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("btcd does not answer: %v\n%s", err, out.String())
		}
	}
	n.mine(t, segWitHeight)
	return n
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

func (n *node) call(ctx context.Context, into any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.SetBasicAuth("u", "p")
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
	var answer struct {
		Result json.RawMessage
		Error  *nodeError
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("btcd answers %q", text)
	}
	if answer.Error != nil {
		return answer.Error
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, into)
}

func (n *node) must(t testing.TB, into any, method string, params ...any) {
	t.Helper()
	if err := n.call(t.Context(), into, method, params...); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// mine makes blocks of what waits, and returns their hashes.
func (n *node) mine(t testing.TB, blocks int) (hashes []string) {
	t.Helper()
	n.must(t, &hashes, "generate", blocks)
	return hashes
}

// replaceFrom removes a block and those after it, which puts their transactions back among those that wait.
func (n *node) replaceFrom(t testing.TB, block string) {
	t.Helper()
	n.must(t, nil, "invalidateblock", block)
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

func (n *node) block(ctx context.Context, hash string) (b nodeBlock, err error) {
	return b, n.call(ctx, &b, "getblock", hash, 2)
}

func (n *node) hashAt(ctx context.Context, height int64) (hash string, err error) {
	return hash, n.call(ctx, &hash, "getblockhash", height)
}

// isNodeError reports whether btcd answered with an error.
func isNodeError(err error) (*nodeError, bool) {
	var answered *nodeError
	return answered, errors.As(err, &answered)
}
