package ethereum

import (
	"encoding/binary"
	"math/big"
)

// Transaction is a transaction of type 2 (EIP-1559) without an access list.
type Transaction struct {
	ChainID        uint64
	Nonce          uint64
	MaxPriorityFee *big.Int // wei per gas
	MaxFee         *big.Int // wei per gas
	GasLimit       uint64
	To             Address
	Value          *big.Int // wei
	Data           []byte
}

const dynamicFeeType = 2

// fields returns the RLP of the fields that are signed, without the header of their list.
func (t Transaction) fields() []byte {
	var b []byte
	b = appendUint(b, t.ChainID)
	b = appendUint(b, t.Nonce)
	b = appendBig(b, t.MaxPriorityFee)
	b = appendBig(b, t.MaxFee)
	b = appendUint(b, t.GasLimit)
	b = appendBytes(b, t.To[:])
	b = appendBig(b, t.Value)
	b = appendBytes(b, t.Data)
	return append(b, emptyList)
}

// Digest returns what is signed.
func (t Transaction) Digest() Hash {
	return Keccak256([]byte{dynamicFeeType}, list(t.fields()))
}

// Signed returns the transaction as it is sent, with its signature, and its hash.
func (t Transaction) Signed(recovery byte, r, s [32]byte) (raw []byte, hash Hash) {
	fields := t.fields()
	fields = appendUint(fields, uint64(recovery))
	fields = appendBig(fields, new(big.Int).SetBytes(r[:]))
	fields = appendBig(fields, new(big.Int).SetBytes(s[:]))
	raw = append([]byte{dynamicFeeType}, list(fields)...)
	return raw, Keccak256(raw)
}

// The first bytes of RLP (Recursive Length Prefix).
const (
	stringOffset = 0x80
	listOffset   = 0xc0
	maxShort     = 55 // bytes whose length is in the first byte
	emptyList    = listOffset
)

func appendHeader(b []byte, offset byte, length int) []byte {
	if length <= maxShort {
		return append(b, offset+byte(length))
	}
	size := trimZeros(binary.BigEndian.AppendUint64(nil, uint64(length)))
	return append(append(b, offset+maxShort+byte(len(size))), size...)
}

func appendBytes(b, data []byte) []byte {
	if len(data) == 1 && data[0] < stringOffset {
		return append(b, data[0])
	}
	return append(appendHeader(b, stringOffset, len(data)), data...)
}

func appendUint(b []byte, n uint64) []byte {
	return appendBytes(b, trimZeros(binary.BigEndian.AppendUint64(nil, n)))
}

func appendBig(b []byte, n *big.Int) []byte { return appendBytes(b, n.Bytes()) }

func list(content []byte) []byte {
	return append(appendHeader(nil, listOffset, len(content)), content...)
}

// trimZeros returns a number without leading zeros, which RLP does not allow.
func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return b
}
