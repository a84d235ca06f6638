package btc

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
)

// Input is a coin that a transaction spends.
type Input struct {
	TxID string
	Vout uint32
	// Replaceable: the transaction signals with it that it can be replaced (BIP 125).
	Replaceable bool
	// Signed: it has a script or a witness.
	Signed bool
}

// Output is an output of a transaction.
type Output struct {
	Satoshis int64
	Script   []byte
}

// Transaction is a parsed transaction.
type Transaction struct {
	TxID         string
	Inputs       []Input
	Outputs      []Output
	VirtualBytes int64
}

var errTransaction = errors.New("is not a transaction")

// reader reads the fields of a transaction, until the first that is not there.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.data)) {
		r.bad = true
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) number(bytes int) uint64 {
	taken := r.take(uint64(bytes))
	if taken == nil {
		return 0
	}
	var full [8]byte
	copy(full[:], taken)
	return binary.LittleEndian.Uint64(full[:])
}

// size reads a number of variable length.
func (r *reader) size() uint64 {
	switch first := r.number(1); first {
	case 0xfd:
		return r.number(2)
	case 0xfe:
		return r.number(4)
	case 0xff:
		return r.number(8)
	default:
		return first
	}
}

// count reads how many elements of at least some bytes follow.
func (r *reader) count(atLeast uint64) int {
	n := r.size()
	if n > uint64(len(r.data))/atLeast {
		r.bad = true
		return 0
	}
	return int(n)
}

// ParseTransaction reads a serialised transaction with at least one input.
func ParseTransaction(raw []byte) (Transaction, error) {
	r := &reader{data: raw}
	var t Transaction
	version := r.take(4)
	witness := len(r.data) > 1 && r.data[0] == 0 && r.data[1] == 1
	if witness {
		r.take(2)
	}
	begin := r.data
	for range r.count(41) {
		t.Inputs = append(t.Inputs, readInput(r))
	}
	for range r.count(9) {
		o := Output{Satoshis: int64(r.number(8))}
		o.Script = slices.Clone(r.take(r.size()))
		if o.Satoshis < 0 || o.Satoshis > MaxSatoshis {
			r.bad = true
		}
		t.Outputs = append(t.Outputs, o)
	}
	body := begin[:len(begin)-len(r.data)]
	if witness {
		for i := range t.Inputs {
			items := r.count(1)
			for range items {
				r.take(r.size())
			}
			t.Inputs[i].Signed = t.Inputs[i].Signed || items > 0
		}
	}
	lockTime := r.take(4)
	if r.bad || len(r.data) > 0 || len(t.Inputs) == 0 || len(t.Outputs) == 0 {
		return Transaction{}, errTransaction
	}
	stripped := slices.Concat(version, body, lockTime)
	t.TxID = idOf(stripped)
	t.VirtualBytes = int64(3*len(stripped)+len(raw)+3) / 4
	return t, nil
}

func readInput(r *reader) Input {
	hash := slices.Clone(r.take(32))
	slices.Reverse(hash)
	i := Input{TxID: hex.EncodeToString(hash), Vout: uint32(r.number(4))}
	script := r.size()
	r.take(script)
	i.Signed = script > 0
	i.Replaceable = r.number(4) < 0xfffffffe
	return i
}

func idOf(stripped []byte) string {
	sum := doubleHash(stripped)
	slices.Reverse(sum[:])
	return hex.EncodeToString(sum[:])
}
