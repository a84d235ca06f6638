// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A token with what real stablecoins add to the standard: other decimals, addresses that get nothing, and a pause.
contract TestToken is ERC20 {
    uint8 private immutable places;
    mapping(address => bool) public blocked;
    mapping(address => bool) public frozen;
    bool public paused;

    constructor(string memory symbol, uint8 decimals_) ERC20(symbol, symbol) {
        places = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return places;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function mintMany(address[] calldata to, uint256 amount) external {
        for (uint256 i = 0; i < to.length; i++) {
            _mint(to[i], amount);
        }
    }

    function setBlocked(address account, bool value) external {
        blocked[account] = value;
    }

    function setFrozen(address account, bool value) external {
        frozen[account] = value;
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function _update(address from, address to, uint256 amount) internal override {
        require(!paused, "paused");
        require(!blocked[to], "blocked");
        require(!frozen[from], "frozen");
        super._update(from, to, amount);
    }
}
