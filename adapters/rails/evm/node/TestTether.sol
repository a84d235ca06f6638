// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A token with what is odd about Tether's: transfer returns nothing, may keep a fee, can be paused, and refuses senders.
contract TestTether {
    uint8 public constant decimals = 6;
    string public constant symbol = "USDT";
    mapping(address => uint256) public balanceOf;
    mapping(address => bool) public frozen;
    bool public paused;
    uint256 public basisPoints;
    address private immutable owner = msg.sender;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function setFrozen(address account, bool value) external {
        frozen[account] = value;
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function setFee(uint256 basisPoints_) external {
        basisPoints = basisPoints_;
    }

    function transfer(address to, uint256 amount) external {
        require(!paused);
        require(!frozen[msg.sender]);
        uint256 fee = (amount * basisPoints) / 10000;
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount - fee;
        emit Transfer(msg.sender, to, amount - fee);
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(msg.sender, owner, fee);
        }
    }
}
