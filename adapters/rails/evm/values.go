package evm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"causeway/adapters/rails/evm/eth"
)

// The values of JSON-RPC are texts of hexadecimal digits after 0x.

type hexUint uint64

func (n *hexUint) UnmarshalJSON(data []byte) error {
	digits, err := hexDigits(data)
	if err != nil {
		return err
	}
	v, err := strconv.ParseUint(digits, 16, 64)
	*n = hexUint(v)
	return err
}

func quantity(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

func bigQuantity(n *big.Int) string { return "0x" + n.Text(16) }

type hexBig struct{ big.Int }

// maxBigDigits is the length of a number of 256 bits.
const maxBigDigits = 64

func (n *hexBig) UnmarshalJSON(data []byte) error {
	digits, err := hexDigits(data)
	if err != nil {
		return err
	}
	if len(digits) > maxBigDigits {
		return errors.New("number of more than 256 bits")
	}
	if _, ok := n.SetString(digits, 16); !ok || strings.ContainsAny(digits, "+-") {
		return fmt.Errorf("%.40q is no number", digits)
	}
	return nil
}

type hexBytes []byte

func (b *hexBytes) UnmarshalJSON(data []byte) error {
	digits, err := hexDigits(data)
	if err != nil {
		return err
	}
	*b, err = hex.DecodeString(digits)
	return err
}

type hexHash eth.Hash

func (h *hexHash) UnmarshalJSON(data []byte) error {
	var b hexBytes
	if err := b.UnmarshalJSON(data); err != nil {
		return err
	}
	if len(b) != eth.HashLength {
		return errors.New("hash of a wrong length")
	}
	copy(h[:], b)
	return nil
}

type hexAddress eth.Address

func (a *hexAddress) UnmarshalJSON(data []byte) error {
	var b hexBytes
	if err := b.UnmarshalJSON(data); err != nil {
		return err
	}
	if len(b) != eth.AddressLength {
		return errors.New("address of a wrong length")
	}
	copy(a[:], b)
	return nil
}

func hexDigits(data []byte) (string, error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return "", err
	}
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok {
		return "", fmt.Errorf("%.40q does not begin with 0x", text)
	}
	return digits, nil
}

// block is the header of a block.
type block struct {
	Number    hexUint `json:"number"`
	Hash      hexHash `json:"hash"`
	Timestamp hexUint `json:"timestamp"`
	BaseFee   *hexBig `json:"baseFeePerGas"`
}

// event is an event of a contract.
type event struct {
	Address     hexAddress `json:"address"`
	Topics      []hexHash  `json:"topics"`
	Data        hexBytes   `json:"data"`
	BlockNumber hexUint    `json:"blockNumber"`
	BlockHash   hexHash    `json:"blockHash"`
	Transaction hexHash    `json:"transactionHash"`
	Index       hexUint    `json:"logIndex"`
	Removed     bool       `json:"removed"`
}

// isSame reports whether two nodes mean the same event.
func (e event) isSame(o event) bool {
	return e.Address == o.Address && e.BlockHash == o.BlockHash && e.Transaction == o.Transaction && e.Index == o.Index &&
		slices.Equal(e.Topics, o.Topics) && bytes.Equal(e.Data, o.Data)
}

// hashes returns the topics of an event.
func (e event) hashes() []eth.Hash {
	topics := make([]eth.Hash, len(e.Topics))
	for i, topic := range e.Topics {
		topics[i] = eth.Hash(topic)
	}
	return topics
}

// receipt says how a transaction in a block has ended.
type receipt struct {
	Hash        hexHash     `json:"transactionHash"`
	BlockNumber hexUint     `json:"blockNumber"`
	BlockHash   hexHash     `json:"blockHash"`
	Status      hexUint     `json:"status"`
	From        *hexAddress `json:"from"`
	To          *hexAddress `json:"to"` // nil if it has made a contract
	GasUsed     hexUint     `json:"gasUsed"`
	GasPrice    hexBig      `json:"effectiveGasPrice"`
	Logs        []event     `json:"logs"`
	// L1Fee is what a layer-2 chain adds for its data on layer 1.
	L1Fee *hexBig `json:"l1Fee"`
}

// fee returns what the transaction cost, in wei.
func (r receipt) fee() *big.Int {
	fee := new(big.Int).Mul(new(big.Int).SetUint64(uint64(r.GasUsed)), &r.GasPrice.Int)
	if r.L1Fee != nil {
		fee.Add(fee, &r.L1Fee.Int)
	}
	return fee
}

func (r receipt) block() Block {
	return Block{Number: uint64(r.BlockNumber), Hash: eth.Hash(r.BlockHash)}
}
