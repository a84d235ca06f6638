// Package merkle implements the Merkle tree (RFC 6962, SHA-256) over the leaves of a log, and
// proofs from it. All hashing is that of golang.org/x/mod/sumdb/tlog.
//
// A tree is stored in tiles of 256 hashes of one level; the levels between two levels of tiles
// are computed from them. Full tiles never change. The partial tiles are the tree's edge. The
// package does no I/O.
package merkle

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"causeway/ports"
)

const (
	// tileHeight is the number of levels in a tile: it has 2^tileHeight hashes.
	tileHeight = 8
	// TileWidth is the number of hashes in a full tile.
	TileWidth = 1 << tileHeight
)

// Hash is a SHA-256 hash in the tree.
type Hash = tlog.Hash

// HashSize is the length of a Hash in bytes.
const HashSize = tlog.HashSize

// Leaf is a leaf of a log of the ledger.
type Leaf interface {
	// Encode appends the bytes of the leaf to b.
	Encode(b []byte) []byte
}

// LeafHash returns the hash of a leaf.
func LeafHash(l Leaf) Hash { return tlog.RecordHash(l.Encode(make([]byte, 0, 512))) }

// Tree is a tree to which leaves are added. In memory it has its edge and the hashes added since
// the last Flush.
type Tree struct {
	size        int64
	flushedSize int64
	edge        [][]byte // at flushedSize: the partial tile of each level
	unflushed   map[int64]Hash
}

// NewTree returns a tree without leaves.
func NewTree() *Tree { return &Tree{unflushed: map[int64]Hash{}} }

// ResumeTree returns the tree of a size and edge, as Flush returned them.
func ResumeTree(size int64, edge []byte) (*Tree, error) {
	if size < 0 {
		return nil, fmt.Errorf("%d is not a valid tree size", size)
	}
	t := NewTree()
	t.size, t.flushedSize = size, size
	for level := 0; size>>(tileHeight*level) > 0; level++ {
		n := int(size>>(tileHeight*level)%TileWidth) * HashSize
		if n > len(edge) {
			return nil, fmt.Errorf("the edge of a tree of size %d is truncated", size)
		}
		t.edge = append(t.edge, edge[:n:n])
		edge = edge[n:]
	}
	if len(edge) > 0 {
		return nil, fmt.Errorf("the edge of a tree of size %d is %d bytes too long", size, len(edge))
	}
	return t, nil
}

// Size returns the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// Add appends a leaf.
func (t *Tree) Add(leaf Hash) error {
	hashes, err := tlog.StoredHashesForRecordHash(t.size, leaf, tlog.HashReaderFunc(t.readHashes))
	if err != nil {
		return fmt.Errorf("add a leaf to the tree: %w", err)
	}
	first := tlog.StoredHashIndex(0, t.size)
	for i, h := range hashes {
		t.unflushed[first+int64(i)] = h
	}
	t.size++
	return nil
}

// Root returns the root hash of the tree.
func (t *Tree) Root() (Hash, error) {
	if t.size == 0 {
		return tlog.TreeHash(0, nil)
	}
	return tlog.TreeHash(t.size, tlog.HashReaderFunc(t.readHashes))
}

// Flush returns the tiles that became full since the last Flush, in order, and the current
// edge, and releases their hashes.
func (t *Tree) Flush() (full []ports.LogTile, edge []byte, err error) {
	partial := make([][]byte, 0, len(t.edge)+1)
	for level := 0; t.size>>(tileHeight*level) > 0; level++ {
		partial = append(partial, nil)
		if level < len(t.edge) && t.size>>(tileHeight*level) == t.flushedSize>>(tileHeight*level) {
			partial[level] = t.edge[level]
		}
	}
	for _, tile := range tlog.NewTiles(tileHeight, t.flushedSize, t.size) {
		data, err := tlog.ReadTileData(tile, tlog.HashReaderFunc(t.readHashes))
		if err != nil {
			return nil, nil, fmt.Errorf("read the tiles of the tree: %w", err)
		}
		if tile.W == TileWidth {
			full = append(full, ports.LogTile{TileIndex: ports.TileIndex{Level: tile.L, N: tile.N}, Hashes: data})
			continue
		}
		partial[tile.L] = data
	}
	t.edge, t.flushedSize = partial, t.size
	clear(t.unflushed)
	return full, bytes.Join(partial, nil), nil
}

var errHashNotAvailable = errors.New("a hash of the tree is not in memory")

// readHashes reads hashes that were added since the last Flush or are in the edge.
func (t *Tree) readHashes(indexes []int64) ([]Hash, error) {
	hashes := make([]Hash, len(indexes))
	for i, index := range indexes {
		h, ok := t.unflushed[index]
		if !ok {
			var err error
			if h, err = t.readFromEdge(index); err != nil {
				return nil, err
			}
		}
		hashes[i] = h
	}
	return hashes, nil
}

func (t *Tree) readFromEdge(index int64) (Hash, error) {
	tile := tlog.TileForIndex(tileHeight, index)
	if tile.L >= len(t.edge) || tile.N != t.flushedSize>>(tileHeight*(tile.L+1)) || tile.W*HashSize > len(t.edge[tile.L]) {
		return Hash{}, errHashNotAvailable
	}
	return tlog.HashFromTile(tile, t.edge[tile.L], index)
}
