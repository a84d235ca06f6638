package evm_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/rails/evm/eth"
)

// modules returns the folder with the npm packages.
func modules(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal("the npm packages are not installed; install them with make needs-evm")
	}
	return folder
}

// bytecode returns the compiled contracts by name.
var bytecode = sync.OnceValues(func() (codes map[string]string, err error) {
	command := exec.Command("node", "compile.cjs")
	command.Dir = "node"
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	return codes, json.Unmarshal(output, &codes)
})

// devnet is a node with a chain of its own.
type devnet struct {
	t   testing.TB
	url string
	id  atomic.Int64
}

func startDevnet(t testing.TB) *devnet {
	t.Helper()
	folder := modules(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "node_modules/hardhat/internal/cli/cli.js", "--config", "hardhat.config.cjs", "node", "--hostname", "127.0.0.1", "--port", strconv.Itoa(port))
	command.Dir = folder
	command.Env = append(os.Environ(), "HARDHAT_DISABLE_TELEMETRY_PROMPT=true", "XDG_CONFIG_HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	d := &devnet{t: t, url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	for range 600 {
		if err := d.try("eth_chainId", new(string)); err == nil {
			return d
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the node did not start: " + output.String())
	return nil
}

func (d *devnet) try(method string, result any, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": d.id.Add(1), "method": method, "params": params})
	if err != nil {
		return err
	}
	response, err := http.Post(d.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var reply struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return err
	}
	if reply.Error != nil {
		return errors.New(reply.Error.Message)
	}
	return json.Unmarshal(reply.Result, result)
}

// call calls the node and fails the test on an error.
func (d *devnet) call(method string, params ...any) any {
	d.t.Helper()
	var result any
	if err := d.try(method, &result, params...); err != nil {
		d.t.Fatalf("%s: %v", method, err)
	}
	return result
}

func (d *devnet) mine(blocks int) { d.call("hardhat_mine", fmt.Sprintf("0x%x", blocks)) }

// send sends a transaction of the deployer.
func (d *devnet) send(to string, data []byte) string {
	d.t.Helper()
	tx := map[string]any{"from": deployer, "data": "0x" + hex.EncodeToString(data), "gas": "0x40000"}
	if to != "" {
		tx["to"] = to
	} else {
		tx["gas"] = "0x400000"
	}
	hash, _ := d.call("eth_sendTransaction", tx).(string)
	return hash
}

func (d *devnet) number(method string, params ...any) *big.Int {
	d.t.Helper()
	text, _ := d.call(method, params...).(string)
	n, ok := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
	if !ok {
		d.t.Fatalf("%s: %q is no number", method, text)
	}
	return n
}

// token is a contract on a devnet.
type token struct {
	*devnet
	address string
}

func word(n int64) []byte { return new(big.Int).SetInt64(n).FillBytes(make([]byte, 32)) }

func addressWord(a string) []byte {
	b, err := hex.DecodeString(strings.TrimPrefix(a, "0x"))
	if err != nil {
		panic(err)
	}
	return new(big.Int).SetBytes(b).FillBytes(make([]byte, 32))
}

func selector(signature string) []byte {
	hash := eth.Keccak256([]byte(signature))
	return hash[:4]
}

// deploy deploys TestToken.sol.
func (d *devnet) deploy(symbol string, decimals int64) token {
	d.t.Helper()
	return d.deployContract("TestToken", word(64), word(decimals), word(int64(len(symbol))), append([]byte(symbol), make([]byte, 32-len(symbol))...))
}

func (d *devnet) deployContract(name string, arguments ...[]byte) token {
	d.t.Helper()
	codes, err := bytecode()
	if err != nil {
		d.t.Fatal(err)
	}
	data, err := hex.DecodeString(codes[name])
	if err != nil {
		d.t.Fatal(err)
	}
	hash := d.send("", append(data, bytes.Join(arguments, nil)...))
	d.mine(1)
	receipt, _ := d.call("eth_getTransactionReceipt", hash).(map[string]any)
	address, _ := receipt["contractAddress"].(string)
	a, err := eth.ParseAddress(address)
	if err != nil {
		d.t.Fatal(err)
	}
	return token{d, eth.FormatAddress(a)}
}

func (k token) mint(to string, amount int64) string {
	return k.send(k.address, bytes.Join([][]byte{selector("mint(address,uint256)"), addressWord(to), word(amount)}, nil))
}

// setBlocked has the contract refuse what goes to an address, and setFrozen what comes from one.
func (k token) setBlocked(account string) { k.setFlag("setBlocked(address,bool)", account) }

func (k token) setFrozen(account string) { k.setFlag("setFrozen(address,bool)", account) }

func (k token) setFlag(function, account string) {
	k.send(k.address, bytes.Join([][]byte{selector(function), addressWord(account), word(1)}, nil))
	k.mine(1)
}

// setFee has the contract keep a part of what it transfers.
func (k token) setFee(basisPoints int64) {
	k.send(k.address, bytes.Join([][]byte{selector("setFee(uint256)"), word(basisPoints)}, nil))
	k.mine(1)
}

func (k token) setPaused(paused int64) {
	k.send(k.address, bytes.Join([][]byte{selector("setPaused(bool)"), word(paused)}, nil))
	k.mine(1)
}

func (k token) balance(of string) int64 {
	return k.number("eth_call", map[string]any{"to": k.address, "data": "0x" + hex.EncodeToString(append(selector("balanceOf(address)"), addressWord(of)...))}, "latest").Int64()
}
