package merkle

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"causeway/ledger"
	"causeway/ports"
)

// StoredTree is a tree in storage. Everything read from it is checked against its root hash, so
// a proof is correct or an error is returned.
type StoredTree struct {
	Size int64
	Root Hash
	// Edge is the edge that Tree.Flush returned at this size.
	Edge []byte
	// Fetch reads full tiles, one for each index, in order.
	Fetch func(indexes []ports.TileIndex) ([][]byte, error)
}

// InclusionProof returns the Merkle audit path (RFC 6962) of the leaf at an index in the tree
// of the first size leaves, and the hash of the leaf.
func (s StoredTree) InclusionProof(index, size int64) (path []Hash, leaf Hash, err error) {
	reader, err := s.hashReader()
	if err != nil {
		return nil, leaf, err
	}
	if index < 0 || index >= size || size > s.Size {
		return nil, leaf, fmt.Errorf("leaf %d of %d is not in a tree of %d", index, size, s.Size)
	}
	if path, err = tlog.ProveRecord(size, index, reader); err != nil {
		return nil, leaf, err
	}
	found, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
	if err != nil {
		return nil, leaf, err
	}
	return path, found[0], nil
}

// ConsistencyProof returns the consistency proof (RFC 6962) between the trees of the first from
// and the first to leaves.
func (s StoredTree) ConsistencyProof(from, to int64) ([]Hash, error) {
	reader, err := s.hashReader()
	if err != nil {
		return nil, err
	}
	if from < 1 || from > to || to > s.Size {
		return nil, fmt.Errorf("there is no consistency proof from %d to %d in a tree of %d", from, to, s.Size)
	}
	return tlog.ProveTree(to, from, reader)
}

// IsConsistent reports whether a consistency proof leads to the roots of an earlier and a later checkpoint.
func IsConsistent(path []Hash, from, to ledger.Checkpoint) bool {
	return tlog.CheckTree(path, to.Size, to.Root, from.Size, from.Root) == nil
}

func (s StoredTree) hashReader() (tlog.HashReader, error) {
	edge, err := ResumeTree(s.Size, s.Edge)
	if err != nil {
		return nil, err
	}
	return tlog.TileHashReader(tlog.Tree{N: s.Size, Hash: s.Root}, tileReader{s, edge.edge}), nil
}

// tileReader reads stored tiles for tlog, which verifies them.
type tileReader struct {
	StoredTree
	edge [][]byte
}

func (tileReader) Height() int { return tileHeight }

func (t tileReader) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	var indexes []ports.TileIndex
	var positions []int
	for i, tile := range wanted {
		if tile.W == TileWidth {
			indexes, positions = append(indexes, ports.TileIndex{Level: tile.L, N: tile.N}), append(positions, i)
			continue
		}
		if tile.L >= len(t.edge) || len(t.edge[tile.L]) < tile.W*HashSize {
			return nil, fmt.Errorf("tile %s is missing from the edge of the tree", tile.Path())
		}
		data[i] = t.edge[tile.L][:tile.W*HashSize]
	}
	if len(indexes) > 0 {
		full, err := t.Fetch(indexes)
		if err != nil {
			return nil, err
		}
		for i, hashes := range full {
			data[positions[i]] = hashes
		}
	}
	return data, nil
}

func (tileReader) SaveTiles([]tlog.Tile, [][]byte) {}
