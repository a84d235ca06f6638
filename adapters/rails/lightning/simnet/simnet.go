// Package simnet runs real nodes for tests: a chain of btcd on simnet, and nodes of LND on it.
package simnet

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ProgramsEnv is the variable with the folder of the programs btcd and lnd.
const ProgramsEnv = "LIGHTNING_PROGRAMS"

// Programs returns the folder of the programs, and skips the test if there is none.
func Programs(t testing.TB) string {
	t.Helper()
	folder := os.Getenv(ProgramsEnv)
	if folder == "" {
		t.Skip("needs the programs of make lightning")
	}
	return folder
}

// client accepts the certificates that the nodes make.
var client = &http.Client{Timeout: 30 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // nodes of the test

// Chain is a chain of btcd.
type Chain struct {
	t                    testing.TB
	folder, program, rpc string
	listen               string
	running              *exec.Cmd
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

// Start starts a chain, and mines to an address if it is not empty.
func Start(t testing.TB) *Chain {
	t.Helper()
	c := &Chain{t: t, folder: t.TempDir(), program: filepath.Join(Programs(t), "btcd"), rpc: freePort(t), listen: freePort(t)}
	c.run("")
	return c
}

func (c *Chain) run(miningAddress string) {
	c.t.Helper()
	args := []string{"--simnet", "--datadir=" + c.folder, "--logdir=" + c.folder, "--configfile=" + filepath.Join(c.folder, "none"),
		"--rpcuser=u", "--rpcpass=p", "--rpclisten=" + c.rpc, "--listen=" + c.listen, "--txindex",
		"--rpccert=" + filepath.Join(c.folder, "rpc.cert"), "--rpckey=" + filepath.Join(c.folder, "rpc.key")}
	if miningAddress != "" {
		args = append(args, "--miningaddr="+miningAddress)
	}
	c.running = start(c.t, c.program, filepath.Join(c.folder, "out"), args...)
	eventually(c.t, "btcd answers", func() error { return c.call("getblockcount", nil) })
}

// MineTo mines blocks whose rewards go to an address.
func (c *Chain) MineTo(address string, blocks int) {
	c.t.Helper()
	kill(c.running)
	c.run(address)
	c.Mine(blocks)
}

// Mine mines blocks.
func (c *Chain) Mine(blocks int) {
	c.t.Helper()
	if err := c.call("generate", []any{blocks}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Chain) call(method string, params []any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, "https://"+c.rpc, bytes.NewReader(body)) //nolint:noctx // the client has a timeout
	if err != nil {
		return err
	}
	request.SetBasicAuth("u", "p")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return errors.New(answer.Error.Message)
	}
	return nil
}

// Node is a node of LND.
type Node struct {
	t                           testing.TB
	chain                       *Chain
	folder, program             string
	rpc, rest, listen, Key, URL string
	running                     *exec.Cmd
}

// Node starts a node.
func (c *Chain) Node(name string, extra ...string) *Node {
	c.t.Helper()
	n := &Node{t: c.t, chain: c, folder: filepath.Join(c.t.TempDir(), name), program: filepath.Join(Programs(c.t), "lnd"), rpc: freePort(c.t),
		rest: freePort(c.t), listen: freePort(c.t)}
	n.URL = "https://" + n.rest
	n.Start(extra...)
	return n
}

// Start starts the node again.
func (n *Node) Start(extra ...string) {
	n.t.Helper()
	n.running = start(n.t, n.program, n.folder+".out", append([]string{"--lnddir=" + n.folder, "--bitcoin.simnet", "--bitcoin.node=btcd",
		"--btcd.rpchost=" + n.chain.rpc, "--btcd.rpcuser=u", "--btcd.rpcpass=p",
		"--btcd.rpccert=" + filepath.Join(n.chain.folder, "rpc.cert"), "--noseedbackup", "--rpclisten=" + n.rpc, "--restlisten=" + n.rest,
		"--listen=" + n.listen, "--trickledelay=50", "--bitcoin.defaultchanconfs=1"}, extra...)...)
	eventually(n.t, "the node answers", func() error {
		var info struct {
			Key    string `json:"identity_pubkey"`
			Synced bool   `json:"synced_to_chain"`
		}
		if err := n.Call(http.MethodGet, "/v1/getinfo", nil, &info); err != nil {
			return err
		}
		n.Key = info.Key
		return nil
	})
}

// Kill kills the node.
func (n *Node) Kill() { kill(n.running) }

// Call calls the node with all rights.
func (n *Node) Call(method, path string, body, into any) error {
	macaroon, err := os.ReadFile(filepath.Join(n.folder, "data", "chain", "bitcoin", "simnet", "admin.macaroon"))
	if err != nil {
		return err
	}
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, n.URL+path, content) //nolint:noctx // the client has a timeout
	if err != nil {
		return err
	}
	request.Header.Set("Grpc-Metadata-Macaroon", hex.EncodeToString(macaroon))
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", path, response.StatusCode, text)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// Must calls the node, and fails the test if that fails.
func (n *Node) Must(method, path string, body, into any) {
	n.t.Helper()
	if err := n.Call(method, path, body, into); err != nil {
		n.t.Fatal(err)
	}
}

// Fingerprint returns the SHA-256 of the certificate of the node.
func (n *Node) Fingerprint() string {
	n.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.folder, "tls.cert"))
	if err != nil {
		n.t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	sum := sha256.Sum256(block.Bytes)
	return hex.EncodeToString(sum[:])
}

// Macaroon returns a macaroon with the permissions that the service needs.
func (n *Node) Macaroon() string {
	n.t.Helper()
	var made struct {
		Macaroon string `json:"macaroon"`
	}
	var permissions []any
	for _, p := range [][2]string{{"info", "read"}, {"offchain", "read"}, {"offchain", "write"}, {"invoices", "read"}, {"invoices", "write"}} {
		permissions = append(permissions, map[string]string{"entity": p[0], "action": p[1]})
	}
	n.Must(http.MethodPost, "/v1/macaroon", map[string]any{"permissions": permissions}, &made)
	return made.Macaroon
}

// Fund mines coins to the wallet of the node.
func (n *Node) Fund() {
	n.t.Helper()
	var made struct {
		Address string `json:"address"`
	}
	n.Must(http.MethodGet, "/v1/newaddress?type=WITNESS_PUBKEY_HASH", nil, &made)
	n.chain.MineTo(made.Address, 400) // until SegWit is active, and the rewards can be spent
	eventually(n.t, "the node has coins", func() error {
		var balance struct {
			Confirmed string `json:"confirmed_balance"`
		}
		if err := n.Call(http.MethodGet, "/v1/balance/blockchain", nil, &balance); err != nil || len(balance.Confirmed) > 8 {
			return err
		}
		return errors.New("has " + balance.Confirmed)
	})
}

// Open opens a channel to another node, with a part of it on the other side.
func (n *Node) Open(to *Node, satoshis, pushed int64) {
	n.t.Helper()
	n.Connect(to)
	key, err := hex.DecodeString(to.Key)
	if err != nil {
		n.t.Fatal(err)
	}
	eventually(n.t, "a channel is opened", func() error {
		return n.Call(http.MethodPost, "/v1/channels", map[string]any{"node_pubkey": key, "local_funding_amount": fmt.Sprint(satoshis),
			"push_sat": fmt.Sprint(pushed), "sat_per_vbyte": "2"}, nil)
	})
	n.chain.Mine(6)
	for _, end := range []*Node{n, to} {
		end.AwaitChannel()
	}
}

// Connect connects the node to another one.
func (n *Node) Connect(to *Node) {
	n.t.Helper()
	eventually(n.t, "the nodes are connected", func() error {
		err := n.Call(http.MethodPost, "/v1/peers", map[string]any{"addr": map[string]any{"pubkey": to.Key, "host": to.listen}}, nil)
		if err != nil && strings.Contains(err.Error(), "already connected") {
			return nil
		}
		return err
	})
}

// AwaitChannel waits until the channels of the node are active.
func (n *Node) AwaitChannel() {
	n.t.Helper()
	eventually(n.t, "the channel is active", func() error {
		var list struct {
			Channels []struct {
				Active bool `json:"active"`
			} `json:"channels"`
		}
		if err := n.Call(http.MethodGet, "/v1/channels", nil, &list); err != nil {
			return err
		}
		if len(list.Channels) == 0 || !list.Channels[0].Active {
			return fmt.Errorf("%+v", list.Channels)
		}
		return nil
	})
}

// AddInvoice makes an invoice.
func (n *Node) AddInvoice(memo string, satoshis int64) string {
	n.t.Helper()
	var made struct {
		Request string `json:"payment_request"`
	}
	n.Must(http.MethodPost, "/v1/invoices", map[string]any{"memo": memo, "value": fmt.Sprint(satoshis)}, &made)
	return made.Request
}

// AddHeldInvoice makes an invoice whose payment is held until it is settled with its preimage, or cancelled.
func (n *Node) AddHeldInvoice(preimage [32]byte, satoshis int64) string {
	n.t.Helper()
	var made struct {
		Request string `json:"payment_request"`
	}
	hash := sha256.Sum256(preimage[:])
	n.Must(http.MethodPost, "/v2/invoices/hodl", map[string]any{"hash": hash[:], "value": fmt.Sprint(satoshis)}, &made)
	return made.Request
}

// Settle settles a held invoice.
func (n *Node) Settle(preimage [32]byte) {
	n.t.Helper()
	n.Must(http.MethodPost, "/v2/invoices/settle", map[string]any{"preimage": preimage[:]}, nil)
}

// Cancel cancels a held invoice.
func (n *Node) Cancel(preimage [32]byte) {
	n.t.Helper()
	hash := sha256.Sum256(preimage[:])
	n.Must(http.MethodPost, "/v2/invoices/cancel", map[string]any{"payment_hash": hash[:]}, nil)
}

func start(t testing.TB, program, log string, args ...string) *exec.Cmd {
	t.Helper()
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	running := exec.Command(program, args...) //nolint:gosec,noctx // killed at the end of the test
	running.Stdout, running.Stderr = out, out
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(running) })
	return running
}

func kill(c *exec.Cmd) {
	if c.ProcessState == nil {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// eventually repeats a check until it succeeds.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}
