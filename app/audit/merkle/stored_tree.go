package merkle

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"causeway/ports"
)

// StoredTree is a tree that lies in storage. Everything read from it is checked against its
// root first, so a proof is right or is not given.
type StoredTree struct {
	Size int64
	Root Hash
	// Edge is as Cut gave it at this size.
	Edge []byte
	// Fetch reads full tiles by their places, one for each, in order.
	Fetch func(places []ports.TileIndex) ([][]byte, error)
}

// InclusionProof proves that the leaf at an index is in the tree of the first size leaves:
// the hashes beside the way from it to the root, from below, as RFC 6962 says. It also
// gives the leaf's hash.
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

// ConsistencyProof proves that the tree of the first to leaves begins with the one of the
// first from leaves, as RFC 6962 says.
func (s StoredTree) ConsistencyProof(from, to int64) ([]Hash, error) {
	reader, err := s.hashReader()
	if err != nil {
		return nil, err
	}
	if from < 1 || from > to || to > s.Size {
		return nil, fmt.Errorf("trees of %d and %d do not begin a tree of %d", from, to, s.Size)
	}
	return tlog.ProveTree(to, from, reader)
}

func (s StoredTree) hashReader() (tlog.HashReader, error) {
	edge, err := ResumeTree(s.Size, s.Edge)
	if err != nil {
		return nil, err
	}
	return tlog.TileHashReader(tlog.Tree{N: s.Size, Hash: s.Root}, tileReader{s, edge.edge}), nil
}

// tileReader gives stored tiles to tlog, which checks them.
type tileReader struct {
	StoredTree
	edge [][]byte
}

func (tileReader) Height() int { return tileHeight }

func (t tileReader) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	var places []ports.TileIndex
	var at []int
	for i, tile := range wanted {
		if tile.W == TileWidth {
			places, at = append(places, ports.TileIndex{Level: tile.L, N: tile.N}), append(at, i)
			continue
		}
		if tile.L >= len(t.edge) || len(t.edge[tile.L]) < tile.W*HashSize {
			return nil, fmt.Errorf("the edge of the tree lacks %s", tile.Path())
		}
		data[i] = t.edge[tile.L][:tile.W*HashSize]
	}
	if len(places) > 0 {
		full, err := t.Fetch(places)
		if err != nil {
			return nil, err
		}
		for i, hashes := range full {
			data[at[i]] = hashes
		}
	}
	return data, nil
}

func (tileReader) SaveTiles([]tlog.Tile, [][]byte) {}
