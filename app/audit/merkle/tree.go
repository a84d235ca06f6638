// Package merkle grows the Merkle tree (RFC 6962, SHA-256) over the leaves of a log and
// proves what is in it. All hashing is that of golang.org/x/mod/sumdb/tlog.
//
// A tree lies in tiles: 256 hashes of one level, of which the levels between two
// levels of tiles follow. Full tiles never change; the ones that are not full are the
// tree's edge. The package does no I/O and knows nothing of what a leaf is about.
package merkle

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"causeway/ledger"
	"causeway/ports"
)

const (
	// tileHeight of a tile: 2 to this many hashes make a full one.
	tileHeight = 8
	// TileWidth is how many hashes a full tile holds.
	TileWidth = 1 << tileHeight
)

// Hash is a SHA-256 of the tree.
type Hash = tlog.Hash

// HashSize is its length in bytes.
const HashSize = tlog.HashSize

// LeafHash is the hash of a posting in the log.
func LeafHash(l ledger.Leaf) Hash { return tlog.RecordHash(l.Encode(make([]byte, 0, 512))) }

// Tree grows leaf by leaf. Beside its edge it holds what was added since the last Cut.
type Tree struct {
	size        int64
	flushedSize int64
	edge        [][]byte // of the tree at cut: the part of a tile at each level
	unflushed   map[int64]Hash
}

// NewTree is a tree without leaves.
func NewTree() *Tree { return &Tree{unflushed: map[int64]Hash{}} }

// ResumeTree goes on with a tree from its size and edge, as Cut gave them.
func ResumeTree(size int64, edge []byte) (*Tree, error) {
	if size < 0 {
		return nil, fmt.Errorf("a tree cannot have the size %d", size)
	}
	t := NewTree()
	t.size, t.flushedSize = size, size
	for level := 0; size>>(tileHeight*level) > 0; level++ {
		n := int(size>>(tileHeight*level)%TileWidth) * HashSize
		if n > len(edge) {
			return nil, fmt.Errorf("the edge of a tree of size %d is cut off", size)
		}
		t.edge = append(t.edge, edge[:n:n])
		edge = edge[n:]
	}
	if len(edge) > 0 {
		return nil, fmt.Errorf("the edge of a tree of size %d is %d bytes too long", size, len(edge))
	}
	return t, nil
}

// Size is the number of leaves.
func (t *Tree) Size() int64 { return t.size }

// Add appends a leaf.
func (t *Tree) Add(leaf Hash) error {
	hashes, err := tlog.StoredHashesForRecordHash(t.size, leaf, tlog.HashReaderFunc(t.readHashes))
	if err != nil {
		return fmt.Errorf("grow the tree: %w", err)
	}
	at := tlog.StoredHashIndex(0, t.size)
	for i, h := range hashes {
		t.unflushed[at+int64(i)] = h
	}
	t.size++
	return nil
}

// Root is the hash of the whole tree.
func (t *Tree) Root() (Hash, error) {
	if t.size == 0 {
		return tlog.TreeHash(0, nil)
	}
	return tlog.TreeHash(t.size, tlog.HashReaderFunc(t.readHashes))
}

// Flush gives the tiles that became full since the last Cut, in order, and the edge as it
// is now. What they hold is forgotten here.
func (t *Tree) Flush() (full []ports.LogTile, edge []byte, err error) {
	parts := make([][]byte, 0, len(t.edge)+1)
	for level := 0; t.size>>(tileHeight*level) > 0; level++ {
		parts = append(parts, nil)
		if level < len(t.edge) && t.size>>(tileHeight*level) == t.flushedSize>>(tileHeight*level) {
			parts[level] = t.edge[level]
		}
	}
	for _, tile := range tlog.NewTiles(tileHeight, t.flushedSize, t.size) {
		data, err := tlog.ReadTileData(tile, tlog.HashReaderFunc(t.readHashes))
		if err != nil {
			return nil, nil, fmt.Errorf("cut the tree into tiles: %w", err)
		}
		if tile.W == TileWidth {
			full = append(full, ports.LogTile{TileIndex: ports.TileIndex{Level: tile.L, N: tile.N}, Hashes: data})
			continue
		}
		parts[tile.L] = data
	}
	t.edge, t.flushedSize = parts, t.size
	clear(t.unflushed)
	return full, bytes.Join(parts, nil), nil
}

var errHashNotAvailable = errors.New("a hash of the tree is not at hand")

// readHashes answers with what was added since the last cut, or else from the edge.
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
