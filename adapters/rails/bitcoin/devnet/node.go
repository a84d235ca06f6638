// Package devnet runs a private Bitcoin chain (btcd) in tests, and a wallet with the methods of Bitcoin Core on it.
package devnet

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
	"sync/atomic"
	"testing"
	"time"
)

// Node is a private chain: btcd on regtest, whose blocks the tests make.
type Node struct{ url string }

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

// StartNode starts a chain on which SegWit is active, and whose rewards are paid to an address.
func StartNode(t testing.TB, miner string) *Node {
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
	n := &Node{url: "http://" + rpc}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if err := n.Call(t.Context(), nil, "getblockcount"); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("btcd does not answer: %v\n%s", err, out.String())
		}
	}
	n.Mine(t, SegWitHeight)
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

func (n *Node) Call(ctx context.Context, into any, method string, params ...any) error {
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

func (n *Node) Block(ctx context.Context, hash string) (b nodeBlock, err error) {
	return b, n.Call(ctx, &b, "getblock", hash, 2)
}

func (n *Node) HashAt(ctx context.Context, height int64) (hash string, err error) {
	return hash, n.Call(ctx, &hash, "getblockhash", height)
}

// isNodeError reports whether btcd answered with an error.
func isNodeError(err error) (*nodeError, bool) {
	var answered *nodeError
	return answered, errors.As(err, &answered)
}
